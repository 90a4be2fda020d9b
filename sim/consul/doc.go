// Package consul joins Consul and the semaphore of its guide, from model/consul, to a simulated world: machines and
// the server. A session of the world is a Consul session; HTTP requests arrive whether or not it is alive.
//
//	cluster.go   machines and the server: requests, replies, time
//	beside.go    activities besides a client's operations: the watch, and the renewal of its session
//	truth.go     the holders of slots, and leftovers
//	code.go      states, for a search
//	targets.go   the reference locks, and the mutants
//
// Importing the package registers the backend.
package consul
