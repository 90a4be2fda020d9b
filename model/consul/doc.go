// Package consul has Consul's key-value store with sessions, as far as locks need it, and on it the semaphore of
// Consul's own guide ("Semaphore", consul/website/source/docs/guides/semaphore.html.md). The server is
// sim/consul/server.
//
//	command.go   requests and replies
//	session.go   sessions
//	machine.go   one client of the semaphore, request by request
//	acquire.go, release.go   its reactions to replies
//	options.go   decisions that the guide leaves open; the doc.go of the module's root says how to add one
package consul
