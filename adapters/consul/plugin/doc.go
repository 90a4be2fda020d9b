// Package plugin is Consul at the gate, as package gate wants a server: anybody's clients send HTTP requests to the simulated Consul,
// one at a time, and its time passes when we say so. The simulated Consul is compared with its official client by make consul,
// and with an agent where one is named. Sessions end after twice their TTL, as late as they may.
//
//	server.go     the server: its keys, and what a run may leave there
//	upstream.go   its connections, and when it has nothing more to say
//	session.go    a connection as HTTP/1.1 has it: where requests and answers end
//	words.go      requests and answers as traces have them, and what they do
package plugin
