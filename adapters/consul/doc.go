// Package consul speaks Consul's HTTP API, both ways.
//
// As a server it has the simulated Consul of model/consul behind it, so that Consul's own clients can be pointed at that:
// sessions, and the key-value store with check-and-set, prefixes and blocking queries. What it does not know it answers with
// 501 and says so. As a client, [Agent], it sends the same requests to a real agent, on which counterexamples replay and
// locks are measured.
package consul
