// Package plugin puts a server of any kind behind the gate: it implements the interfaces of package gate without knowing the
// protocol. What a client writes before it waits is one command, and what the server sends then is the answer. What it sends
// later is unasked.
//
// Such a server does not show when it has carried out a command, nor what its state is. So it is given a moment after each
// command, and a command without an answer in that time counts as one that waits. The server has real time.
//
//	server.go     the server: one that runs already, or one that a command starts
//	upstream.go   its connections, and when it counts as having nothing more to send
//	session.go    a connection
package plugin
