// Package plugin puts Redis behind the gate: it implements the interfaces of package gate. External clients send
// RESP, one command at a time, to a redis-server that lockproof starts with a virtual clock.
//
//	server.go     the server: it starts and ends with a run's clients, and has virtual time
//	session.go    a RESP connection
//	resp.go       finds the end of a command in RESP
//	commands.go   the effects of commands, as far as the gate needs them
//	scripts.go    the scripts that the server knows when a run begins
package plugin
