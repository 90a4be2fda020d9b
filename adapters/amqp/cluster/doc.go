// Package cluster starts private RabbitMQ clusters on loopback ports, and causes machine faults of their nodes. It
// needs no root privileges and no firewall: each node has its own epmd (Erlang's port mapper), which this package
// implements. When the node looks up another node, the epmd answers with the port of a proxy. Each ordered pair of
// nodes has its own proxy, so that each direction between two nodes can be silenced.
//
//	cluster.go   a cluster, from its start to its end
//	form.go      how a cluster forms, and the error if it does not
//	node.go      one node: started, killed, terminated, paused
//	shell.go     Erlang expressions that a node evaluates
//	epmd.go      the process by which nodes find one another
//	hooked.go    a user's cluster, whose faults are the user's commands
//	measured.go  the measurements in the tables of README.md
package cluster
