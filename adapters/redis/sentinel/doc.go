// Package sentinel starts private deployments of Redis with replicas, which Sentinels watch and promote, and has faults of
// machines befall them. A node is a redis-server and a Sentinel, which a fault befalls both. The first node's server is the
// master to begin with; the others copy it, a moment later each.
//
//	cluster.go   a deployment, from its start to its end
//	faults.go    what befalls its nodes
//	lease.go     locks by leases on it, whose clients ask the Sentinels who is the master
package sentinel
