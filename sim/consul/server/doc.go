// Package server is a Consul of one server as a value. The same code answers the exhaustive search, the simulator,
// and clients that speak HTTP. Its facts are K in sim/FACTS.md.
//
//	server.go    the store: keys with indexes, check-and-set, prefixes, blocking queries
//	session.go   sessions: the keys that they have acquired, and their ends
package server
