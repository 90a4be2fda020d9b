// Package redis has what the priority lock of the seeds needs of Redis, as plain values: commands and replies, the scripts
// in Lua, and a server that does with its keys what Redis does.
//
//	command.go   commands, the keys and values that they are about, and replies
//	script.go    the scripts, as a real server runs them
//	server.go    keys with an expiry, and what each command does with them
//	claims.go    the scripts of the repaired protocol, on the same keys
//	words.go     commands and replies for people
//
// The server is trusted because adapters/redis compares it with a real one at every reply.
package redis
