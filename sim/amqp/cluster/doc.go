// Package cluster models a RabbitMQ cluster as a value, with two clients of one lock. It searches for the shortest
// execution in which both clients hold the lock and neither was told of a loss. It models what adapters/amqp/cluster
// has observed of real nodes, as far as locks by queues need it:
//
//   - A node is up, stops cleanly, waits to rejoin, is off, or is paused. Messages from one node reach another, or do
//     not. A node may notice at any later time that another node is gone.
//   - Mnesia has a copy of the records of exclusive queues on each node, and each part of a divided cluster continues
//     with its own copy. Khepri has one log, which needs a majority: a minority's proposal takes effect when the parts
//     are joined.
//   - The messages of a classic queue are on the node of its process. A quorum queue needs a leader with a majority. A
//     mirrored queue has another master in each part.
//   - The modes of cluster_partition_handling: ignore, pause_minority and autoheal.
//
// The model has no durations: any node may notice anything late. Some of its executions therefore need nodes that are
// slower than real ones. A result only says that the mechanism makes an execution possible.
//
//	model.go      the parameters: design, places, mode, faults
//	state.go      the state of the cluster, and which nodes can work together
//	node.go       what nodes do: notice, stop, rejoin
//	faults.go     the faults of nodes
//	queue.go      the kinds of queues: who is granted the lock, and what frees it
//	search.go     the shortest execution
//	words.go      its steps as text
package cluster
