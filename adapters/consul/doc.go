// Package consul implements Consul's HTTP API, as a server and as a client.
//
// The server exposes the simulated Consul of model/consul to Consul's own clients: sessions, and the key-value store with
// check-and-set, prefixes and blocking queries. It answers other requests with 501 and an explanation. The client, [Agent],
// sends the same requests to a real agent, to replay counterexamples and to measure locks.
package consul
