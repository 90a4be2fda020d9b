// Package consul is Consul's key-value store with sessions, as far as locks need it, and the semaphore of Consul's own guide
// ("Semaphore", consul/website/source/docs/guides/semaphore.html.md) on it. All of it is plain values: the same server
// answers the exhaustive search, the simulator, and clients that speak HTTP.
//
//	command.go   requests and what comes back
//	server.go    the store: keys with indexes, check-and-set, prefixes, blocking queries
//	session.go   sessions: what they have acquired, when they end
//	machine.go   one client of the semaphore, request by request
//	acquire.go, release.go   what it makes of the replies
//	options.go   what the guide leaves open; the doc.go of the module's root says how to add one
package consul
