// Package plugin is Redis at the gate, as package gate wants a server: anybody's clients send RESP to a redis-server of our own,
// one command at a time, and the server has our clock.
//
//	server.go     the server: it is started for a run's clients and ended with them, and its time passes when we say so
//	session.go    a connection as RESP has it
//	resp.go       where commands of RESP end
//	commands.go   what commands do, as far as a gate has to know
//	scripts.go    which scripts the server knows when a run begins
package plugin
