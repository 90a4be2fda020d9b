// Package server simulates the part of Redis that the priority lock needs, as a value. adapters/redis compares each
// reply with that of a real server.
//
//	server.go    keys with an expiry, and the effect of each command
//	claims.go    the scripts of the repaired protocol, on the same keys
package server
