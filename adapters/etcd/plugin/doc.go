// Package plugin puts etcd behind the gate. It implements the server that package gate defines: external clients make gRPC
// calls, one at a time, to an etcd that lockproof starts. The messages of calls wait at the gate; all other HTTP/2 frames
// pass without waiting.
//
// etcd cannot get a virtual clock, since Go programs do not ask the C library for the time. Instead the plug-in keeps each
// lease alive until the schedule has let the lease's time pass, and revokes it then. So TimeToLive, the time that a lease
// has left by etcd's own clock, differs from the schedule's.
//
//	server.go     the server: its keys, and what a run may leave there
//	instance.go   the process, its connections, and when it is at rest
//	control.go    our own requests to the server, in JSON
//	leases.go     the leases that clients have, and when they end
//	session.go    a connection: finds the ends of gRPC messages
//	frame.go      frames of HTTP/2
//	proto.go      fields of protocol buffers
//	words.go      commands and answers: what they do, and how traces show them
package plugin
