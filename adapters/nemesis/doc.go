// Package nemesis defines the faults of the machines of a cluster of servers, and cuts their network. In Jepsen's histories
// the process that causes faults is called nemesis.
//
//	fault.go     faults, and sequences of them that are drawn from a seed
//	network.go   which node's messages reach which other node
//	link.go      the connections to one node
package nemesis
