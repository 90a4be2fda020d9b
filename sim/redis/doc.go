// Package redis joins Redis and the priority lock of model/redis to a simulated world: machines, servers, and
// messages that travel directly between clients.
//
//	cluster.go   machines and servers: commands, replies, time
//	message.go   messages on their way, and the links by which clients receive them
//	truth.go     the holder of the lock, leftovers, and states for a search
//	targets.go   the reference locks, and the mutants
//
// Importing the package registers the backend.
package redis
