// Package plugin puts Consul behind the gate: it implements the interfaces of package gate. External clients send HTTP
// requests to the simulated Consul, one at a time, and it has virtual time. The command make consul compares the simulated
// Consul with the official client and, if one is named, with an agent. Sessions end after twice their TTL, which is the
// latest possible time.
//
//	server.go     the server: its keys, and what a run may leave there
//	upstream.go   its connections, and when it has nothing more to send
//	session.go    an HTTP/1.1 connection: the ends of requests and answers
//	words.go      requests and answers in the form for traces, and their effects
package plugin
