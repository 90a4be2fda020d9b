// Package stream is a gate in front of real servers of any protocol over TCP. Each client has its own address, and each
// connection of a client has its own connection to the server. A [Protocol] splits what the client writes into commands,
// which wait at the gate, and splits what the server sends into replies.
//
//	proxy.go      a [Proxy], which accepts connections, and the addresses of clients
//	conn.go       a connection: what client and server write, and how each of them learns of the end
//	command.go    commands and replies at the gate
package stream
