// Package adapters is the outside world: external programs, real servers, AMQP on the wire, and the runs with all
// that. It has only folders.
//
//	engine       whole runs and their reports: the common part of the API and the command line
//
//	foreign      clients of an AMQP broker that are not ours: what reaches the broker, when, and what they were told. In its
//	             folder clientstress: all of them at once, on a real broker
//	inprocess    such clients as Go values; subprocess: as programs, in any language
//	wire         AMQP for such clients: a server with a gate, and the simulated broker or a real one behind it
//	protocol     lock machines that a user has written in Go
//
//	rabbitmq, redis, databases   real servers, which are compared with the simulated ones
//	consul       the simulated Consul, served over HTTP, and a connection to a real agent
//	container    the images of such servers, and in its folder docker what starts them in containers
//	stress       the common part of using a lock on a real server with many clients at once
//	measure      the latencies of operations on real servers
//	replaytest   the common part of the tests of replays on real servers
package adapters
