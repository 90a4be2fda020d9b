// Package redis has the priority lock as plain values: the commands and replies of Redis that the lock needs, the scripts
// in Lua, and one client of the lock as a state machine. A client of this lock can steal it from a client of a lower
// priority. sim/redis/README.md describes the protocol in prose. The server is sim/redis/server.
//
//	command.go   commands, their keys and values, and replies
//	script.go    the scripts, as a real server runs them
//	options.go   decisions that the protocol's text leaves open; the doc.go of the module's root says how to add one
//	machine.go   one client of the lock
//	steal.go     acquiring: stealing entries, asking victims, waiting for acknowledgements
//	victim.go    the victim: requests, stopping, acknowledging
//	chain.go     the lengths of chains of thieves
//	code.go      states, for a search
//	words.go     commands and replies for people
//	sent.go      a command and its reply, as traces keep them
//	targets.go   the reference locks, and the mutants
package redis
