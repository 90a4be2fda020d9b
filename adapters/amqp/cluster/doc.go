// Package cluster starts private RabbitMQ clusters on loopback ports, and has faults of machines befall their nodes. It needs
// no root and no firewall: nodes find one another by an epmd of ours, one a node, which answers with the port of a proxy.
// Each ordered pair of nodes has a proxy of its own, so that each direction between two nodes can be silenced.
//
//	cluster.go   a cluster, from its start to its end
//	form.go      how it forms, and what it says where it does not
//	node.go      one node: started, killed, terminated, paused
//	shell.go     what a node is asked, in Erlang
//	epmd.go      the process by which nodes find one another
//	hooked.go    a cluster of a user's, whose faults are commands of the user's
//	measured.go  the tables of the page
package cluster
