// Package sentinel starts private deployments of replicated Redis servers with Sentinels, and causes machine faults
// in them. Sentinels watch the servers and promote replicas. A node is a redis-server and a Sentinel; a fault affects
// both. At first the first node's server is the master, and the others replicate it asynchronously.
//
//	cluster.go   a deployment, from its start to its end
//	faults.go    faults of its nodes
//	lease.go     locks with leases on it, whose clients ask the Sentinels for the master
package sentinel
