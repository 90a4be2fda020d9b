// Package inprocess runs clients of a lock that are Go values in our own process.
//
// A client can't be killed as a process can: its crash is the end of its connections, whose peer is ours,
// and nothing that it says afterwards is listened to. It can't be stopped either: a pause keeps its
// commands at the gate.
package inprocess
