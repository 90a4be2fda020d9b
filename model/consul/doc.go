// Package consul has a semaphore on Consul's key-value store: that of Consul's own guide ("Semaphore",
// consul/website/source/docs/guides/semaphore.html.md). It also has the requests of the store and of sessions that
// locks need. The simulated server is sim/consul/server.
//
//	command.go   requests and replies
//	session.go   sessions
//	machine.go   one client of the semaphore, request by request
//	acquire.go, release.go   its reactions to replies
//	options.go   decisions that the guide leaves open; the doc.go of the module's root says how to add one
package consul
