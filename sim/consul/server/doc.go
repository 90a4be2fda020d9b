// Package server simulates a Consul with one server, as a value. The same code answers searches, random executions, and
// real clients that speak HTTP. sim/FACTS.md has its facts, with labels that begin with K.
//
//	server.go    the store: keys with indexes, check-and-set, prefixes, blocking queries
//	session.go   sessions: the keys that they have acquired, and how they end
package server
