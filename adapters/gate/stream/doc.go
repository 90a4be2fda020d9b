// Package stream is a gate before real servers of any protocol over TCP. Each client has an address of its own, and each of its
// connections one to the server behind it. A [Protocol] cuts what the client writes into commands, which wait at the gate, and
// what the server says into replies.
//
//	proxy.go      a [Proxy], which takes connections, and the addresses of clients
//	conn.go       a connection: what the client writes, what the server says, and how each of them learns of its end
//	command.go    commands and replies at the gate
package stream
