// Package consul has Consul and the semaphore of its guide as a simulated world takes them: machines and the server of
// model/consul joined. A session of the world's is a session of Consul's; what is sent over HTTP goes through whether or
// not it is alive.
//
//	cluster.go   machines and the server: requests, replies, time
//	beside.go    what goes on beside a client's operations: the watch, and renewing its session
//	truth.go     who holds a slot, and what is left behind
//	code.go      states, for a search
//	targets.go   the reference locks, and the mutants
//
// Importing it registers the backend.
package consul
