// Package plugin puts a server of any kind behind the gate: it implements the interfaces of package gate without
// knowing the protocol. Everything that a client writes before it waits is one command, and what the server sends
// next is the answer. What the server sends later is a message that no command asked for.
//
// Such a server does not show when it has carried out a command, nor what its state is. So the gate waits for a
// moment after each command. If there is no answer in that time, the command counts as one that the server keeps
// waiting. The server uses the machine's clock.
//
//	server.go     the server: one that runs already, or one that a command starts
//	upstream.go   its connections, and when it counts as having nothing more to send
//	session.go    a connection
package plugin
