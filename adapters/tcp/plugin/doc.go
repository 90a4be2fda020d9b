// Package plugin is a server of any kind at the gate, as package gate wants one: nothing is known of its protocol. What a client writes
// before it waits is one command, and what the server says then is the answer. What is said later is unasked.
//
// Nothing says when such a server has done what it was told to, nor what it has. So it is left alone for a moment after each command,
// and a command that has no answer by then counts as one that waits. Its time is its own.
//
//	server.go     the server: one that runs already, or one that a command starts
//	upstream.go   its connections, and when it counts as having nothing more to say
//	session.go    a connection
package plugin
