// Package adapters is the outside world: other people's programs, real servers, AMQP on the wire, and the runs that use all
// that. Nothing is in it but its folders.
//
//	engine       whole runs and their reports: what the API and the command line have in common
//
//	external     clients of an AMQP broker that are not ours: what reaches the broker, when, and what it means. In its
//	             folders: by what they hold a lock (recognise), and all of them at once (clientstress)
//	inprocess    such clients as Go values; subprocess: as programs, in any language
//	wire         AMQP for such clients: a server with a gate, and the simulated broker or a real one behind it
//	protocol     lock machines that a user has written in Go
//
//	rabbitmq, redis, databases   real servers, which are compared with the simulated ones
//	consul       the simulated Consul, served over HTTP, and a connection to a real agent
//	stress       what is common to using a lock on a real server all at once
//	measure      how long operations take on real servers
//	replaytest   what the tests of replays on real servers share
package adapters
