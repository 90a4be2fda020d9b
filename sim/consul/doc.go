// Package consul joins Consul and the semaphore of its guide (model/consul) to the simulation: the clients' state
// machines and the server. A session of the simulation is a Consul session. A client's HTTP requests reach the server
// even if its session has ended.
//
//	cluster.go   clients and the server: requests, replies, time
//	beside.go    activities beside a client's operations: the watch, and the renewal of its session
//	truth.go     the holders of slots, and what is left when all clients are done
//	code.go      encoding of states, for a search
//	targets.go   the reference locks, and the mutants
//
// Importing the package registers the backend.
package consul
