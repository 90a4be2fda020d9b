// Package consul speaks Consul's HTTP API, both ways.
//
// As a server it exposes the simulated Consul of sim/consul/server to Consul's own clients: sessions, and the key-value
// store with check-and-set, prefixes and blocking queries. It answers other requests with 501 and an explanation. As a
// client, [Agent], it sends the same requests to a real agent, to replay counterexamples and to measure locks.
package consul
