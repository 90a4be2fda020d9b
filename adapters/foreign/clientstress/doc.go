// Package clientstress has clients that are not ours use a lock on a real broker all at once, with no schedule: all of them
// begin each round at one instant. A history records what they saw, and ends with an audit.
//
//	stress.go   what is asked for, setting up and tidying
//	run.go      rounds, and what came of them
//	audit.go    when all is at rest: what is free is granted
//	client.go   one client, life after life
//	holds.go    long holds instead of rounds, while faults befall the broker
//	relay.go    how a client was told that its connection has ended
//	life.go     one life: its process, and its way to the broker, straight or through a proxy
//
// The rounds and the history are those of adapters/stress, which every stress has in common.
package clientstress
