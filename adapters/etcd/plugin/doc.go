// Package plugin is etcd at the gate, as package gate wants a server: anybody's clients send gRPC to an etcd of our own, one command at
// a time. The messages of calls wait at the gate; what HTTP/2 says besides passes by itself.
//
// An etcd takes no clock of ours: Go's programs do not ask the C library for the time. So leases are kept alive by the plug-in as long
// as the schedule has not let their time pass, and are revoked then. How much time a lease has left by etcd's own clock
// (TimeToLive) is therefore not what the schedule says.
//
//	server.go     the server: its keys, and what a run may leave there
//	instance.go   the process, its connections, and when it has nothing more to say
//	control.go    what we ask of it ourselves, in JSON
//	leases.go     the leases that clients have, and when they end
//	session.go    a connection as gRPC has it: where messages end
//	frame.go      frames of HTTP/2
//	proto.go      fields of protocol buffers
//	words.go      commands and answers as traces have them, and what they do
package plugin
