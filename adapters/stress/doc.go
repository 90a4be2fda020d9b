// Package stress is the common part of all stress of a lock on a real broker. Its clients begin each round at one instant.
// It says what they do in a round, and writes the history as it happens. Packages that use it supply the clients and their
// way to the broker.
package stress
