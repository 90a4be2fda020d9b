// Package plugin puts Consul behind the gate: it implements the interfaces of package gate. External clients send
// HTTP requests to the simulated Consul, which handles one at a time and has virtual time. Sessions end after twice
// their TTL, which is the latest possible time. The command make consul compares the simulated Consul with the
// official client and, if an agent is named, with that agent.
//
//	server.go     the server: its keys, and the keys that a run leaves behind
//	upstream.go   its connections, and when it has nothing more to send
//	session.go    an HTTP/1.1 connection: the ends of requests and answers
//	words.go      requests and answers in the form for traces, and their effects
package plugin
