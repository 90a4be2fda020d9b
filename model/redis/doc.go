// Package redis has the priority lock, in which who is more urgent steals from who is less, and what that needs of Redis, as
// plain values: commands and replies, the scripts in Lua, a server that does with its keys what Redis does, and one client
// of the lock as a state machine.
//
//	command.go   commands, the keys and values that they are about, and replies
//	script.go    the scripts, as a real server runs them
//	server.go    keys with an expiry, and what each command does with them
//	claims.go    the scripts of the repaired protocol, on the same keys
//	options.go   what the protocol's text leaves open; the doc.go of the module's root says how to add one
//	machine.go   one client of the lock
//	steal.go     acquiring: entries stolen, victims asked, acknowledgements awaited
//	victim.go    the other side: being asked, stopping, acknowledging
//	chain.go     how long chains of thieves are
//	code.go      states, for a search
//	words.go     commands and replies for people
//
// The server is trusted because adapters/redis compares it with a real one at every reply.
package redis
