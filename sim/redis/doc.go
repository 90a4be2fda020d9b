// Package redis has Redis and the priority lock on it as a simulated world takes them: machines and servers of
// model/redis, with messages that travel from client to client beside the servers.
//
//	cluster.go   machines and servers: commands, replies, time
//	message.go   messages under way, and the links by which clients take them
//	truth.go     who has the lock, what is left behind, and states, for a search
//	targets.go   the reference locks, and the mutants
//
// Importing it registers the backend.
package redis
