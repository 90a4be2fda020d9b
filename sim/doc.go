// Package sim is a deterministic simulation of clients, servers, faults and virtual time. It turns a scenario into an
// execution, which is byte for byte the same on every run and every machine. The simulation uses no wall clock, no
// goroutines and no map order.
//
// The simulation uses a server as a [Cluster], which joins the machines of the clients and the servers of one backend.
// Generic code sees the description of a command (backend.Exchange), never the command. README.md says how to add a
// backend, and FACTS.md records the observed behaviour of real servers. The package for a real server of that kind is
// in adapters. The command line reaches it by cmd/lockproof/cli: replay_on.go for replay --on, and comparereal.go for
// compare. cmd/lockproof/servers/linked links the drivers that lockproof itself does not have.
//
// The simulation executes one action at a time ([World.Do]). For example, a client's next command reaches its server
// and the reply reaches the client, a client dies, a connection drops, or time passes. The schedule chooses the next
// action ([Run]): at random, by priorities, or as recorded.
package sim
