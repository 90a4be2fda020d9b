// Package sentinel starts private deployments of Redis with replicas, which Sentinels watch and promote, and causes machine
// faults in them. A node is a redis-server and a Sentinel, and a fault affects both. At first the first node's server is the
// master; the others replicate it asynchronously.
//
//	cluster.go   a deployment, from its start to its end
//	faults.go    faults of its nodes
//	lease.go     locks by leases on it, whose clients ask the Sentinels for the master
package sentinel
