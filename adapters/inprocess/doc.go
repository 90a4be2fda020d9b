// Package inprocess runs clients of a lock that are Go values in this process.
//
// Such a client can't be killed as a process can: a crash closes its connections, and later messages are ignored. It can't
// be stopped either: a pause keeps its commands at the gate.
package inprocess
