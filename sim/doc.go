// Package sim is a deterministic world: clients, servers, faults and virtual time. A scenario goes in, an execution
// comes out, byte for byte the same on every run and every machine. The wall clock, goroutines and the order of maps
// stay out of it.
//
// The world knows a server as a [Cluster]: the machines and servers of one backend, joined. Generic code sees the
// description of a command (backend.Exchange), never the command. README.md says how to add a backend, and FACTS.md
// records the observed behaviour of real servers. A real server of that kind is a package in adapters. The command
// line reaches it by cmd/lockproof/cli, replay_on.go for replay --on and comparereal.go for compare;
// cmd/lockproof/servers/linked links the drivers that lockproof itself does not have.
//
// The world moves by one action at a time ([World.Do]): a client's next command reaches its server and its reply the
// client, a client dies, a connection drops, time passes. The schedule chooses the next action ([Run]): at random, by
// priorities, or as recorded.
package sim
