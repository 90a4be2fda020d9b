// Package nemesis has the faults that befall the machines of a cluster of servers. Nemesis is who causes them in Jepsen's
// histories.
//
//	fault.go     faults, and sequences of them that are drawn from a seed
//	network.go   which node's messages reach which other node
//	link.go      the connections to one node
package nemesis
