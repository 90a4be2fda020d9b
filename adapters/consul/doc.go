// Package consul serves the simulated Consul of model/consul over HTTP, so that Consul's own clients can be pointed at it:
// sessions, and the key-value store with check-and-set, prefixes and blocking queries. What it does not know it answers with
// 404 and says so. [Agent] is the other side: it sends the same requests to a real agent, on which locks are measured.
package consul
