// Package stress is what all stress of a lock on a real broker has in common: clients that begin each round
// at one instant, what they do in a round, and the history of it, written down as it happens. Who the clients
// are, and how they reach the broker, is for those who use it to say.
package stress
