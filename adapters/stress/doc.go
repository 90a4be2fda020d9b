// Package stress defines what clients do in a stress run of a lock on a real broker. All clients begin each round at
// one instant. The package chooses their operations, and writes the history as it happens. Packages that use it
// supply the clients and their connections.
package stress
