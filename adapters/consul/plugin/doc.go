// Package plugin is Consul at the gate, as package gate wants a server: anybody's clients send HTTP requests to the simulated Consul,
// one at a time, and its time passes when we say so. No other Consul is asked: see the README of adapters/consul for what the
// simulated one was compared with.
//
//	server.go     the server: its keys, and what a run may leave there
//	upstream.go   its connections, and when it has nothing more to say
//	session.go    a connection as HTTP/1.1 has it: where requests and answers end
//	words.go      requests and answers as traces have them, and what they do
package plugin
