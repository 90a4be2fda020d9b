// Package redis joins Redis and the priority lock of model/redis to the simulation: the clients' state machines, the
// servers, and messages that travel directly between clients.
//
//	cluster.go   clients and servers: commands, replies, time
//	message.go   messages on their way, and the links by which clients receive them
//	truth.go     the holder of the lock, what is left in the end, and encoding of states
//	targets.go   the reference locks, and the mutants
//
// Importing the package registers the backend.
package redis
