// Package sim is a deterministic world: clients, servers, faults and virtual time. A scenario goes
// in, an execution comes out, byte for byte the same on every run and every machine. The wall clock,
// goroutines and the order of maps stay out of it.
//
// What it knows of a server is a [Cluster]: machines and servers of one backend, joined. Generic code sees what a command was
// (backend.Exchange), never the command. README.md says how to add a backend, and FACTS.md what real servers were seen to do.
// A real server of that kind is a package in adapters. The command line reaches it by cmd/lockproof/cli, replay_on.go for
// replay --on and comparereal.go for compare; drivers that lockproof itself does not have are linked in by
// cmd/lockproof/servers/linked.
//
// The world moves by actions, one at a time ([World.Do]): a client's next command reaches its server
// and its reply the client; a client dies; a connection drops; time passes. What is chosen next is
// the schedule's business ([Run]): at random, by priorities, or as recorded.
package sim
