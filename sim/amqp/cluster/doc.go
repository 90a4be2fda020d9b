// Package cluster is a RabbitMQ cluster as a value, with two clients of one lock. It searches for the shortest
// execution in which both hold the lock and neither was told of a loss. It models what adapters/amqp/cluster has
// observed of real nodes, as far as locks by queues need it:
//
//   - Nodes are up, leave cleanly, wait to come back, are off, or are paused. Messages from one node reach another, or
//     do not. A node notices at any later time that another is gone.
//   - Mnesia has a copy of the records of exclusive queues on each node, and each part of a divided cluster continues with
//     its own copy. Khepri has one log, which needs a majority: a minority's proposal takes effect when the parts are
//     joined.
//   - A classic queue's messages are where its process is. A quorum queue's are where its leader has a majority. A mirrored
//     queue has another master in each part.
//   - The modes of cluster_partition_handling: ignore, pause_minority and autoheal.
//
// The model has no durations: any node may notice anything late. So it has executions for which real nodes are too
// fast, and its verdict only says that the mechanism makes an execution possible.
//
//	model.go      the parameters: design, places, mode, faults
//	state.go      the state of the cluster, and which nodes can work together
//	node.go       what nodes do: notice, leave, come back
//	faults.go     the faults of nodes
//	queue.go      the kinds of queues: who is granted the lock, and what frees it
//	search.go     the shortest execution
//	words.go      its steps in words
package cluster
