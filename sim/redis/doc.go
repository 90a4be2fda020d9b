// Package redis has Redis and the priority lock on it as a simulated world takes them: machines and servers of
// model/redis, with messages that travel from client to client beside the servers.
//
//	cluster.go   machines and servers: commands, replies, time
//	message.go   messages under way, and the links by which clients take them
//	truth.go     who has the lock, and what is left behind
//	code.go      states, for a search
//	targets.go   the reference locks, and the mutants
//	chain.go     how long chains of thieves are
//
// Importing it registers the backend.
package redis
