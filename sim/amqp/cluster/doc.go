// Package cluster is a RabbitMQ cluster as a value, with two clients of one lock, and the search for the shortest execution in
// which both hold it though neither has been told anything. It models what adapters/amqp/cluster was seen to do with real
// nodes, and no more than locks by queues need:
//
//   - Nodes are up, leave in good order, wait to come back, are off, or stand still. Messages from one reach another, or do not.
//     A node notices in its own time that another is gone.
//   - Mnesia has a copy of what exclusive queues there are on each node, and each part of a divided cluster goes on with its
//     own. Khepri has one log, which needs a majority: a minority's proposal is carried out when the parts are joined.
//   - A classic queue's messages are where its process is. A quorum queue's are where its leader has a majority. A mirrored
//     queue has another master in each part.
//   - The modes of cluster_partition_handling: ignore, pause_minority and autoheal.
//
// Time has no length here: whoever may notice, may do so late. So the model has executions that real nodes are too quick for.
// None of its verdicts says more than that the mechanism is there.
//
//	model.go      what is asked: design, places, mode, faults
//	state.go      the state of the cluster, and what its nodes can do together
//	node.go       what nodes do: notice, leave, come back
//	faults.go     what befalls nodes
//	queue.go      the kinds of queue: who is granted the lock, and what frees it
//	search.go     the shortest execution
//	words.go      its steps in words
package cluster
