// Package clientstress makes external clients use a lock on a real broker simultaneously, without a schedule: all clients
// begin each round at the same moment. A history records what the clients saw, and ends with an audit.
//
//	stress.go   configuration, setting up and tidying up
//	run.go      rounds, and their results
//	audit.go    the audit: at rest, a free lock is granted
//	client.go   one client, life after life
//	holds.go    long holds instead of rounds, while faults affect the broker
//	relay.go    observes how a client is told that its connection has ended
//	life.go     one life: its process, and its connection to the broker, direct or through a proxy
//
// The rounds and the history are those of adapters/stress, which all kinds of stress share.
package clientstress
