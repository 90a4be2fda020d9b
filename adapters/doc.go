// Package adapters has no code. Its folders connect the simulated world to what is outside: external programs, real
// servers, and network protocols.
//
//	engine       whole runs and their reports: what the API and the command line share
//
//	foreign      external clients of a server: what they send, when it reaches the server, and what they observe. Its
//	             folder clientstress runs them all at once, on a real broker
//	inprocess    external clients as Go values; subprocess: as programs in any language
//	gate         the proxy that holds back the commands of external clients until a schedule lets them pass
//	orders       the orders in which these commands can reach the server
//	amqp         AMQP: its wire protocol, the simulated broker behind the gate, real RabbitMQ nodes and clusters
//	protocol     lock machines that a user has written in Go
//
//	redis, sql, consul, etcd, zookeeper, tcp
//	             other servers, real or simulated, also behind the gate
//	container    images of servers; its folder docker starts them in containers
//	nemesis      faults of the machines of a cluster
//	stress       using a lock on a real server with many clients at once
//	measure      the latencies of operations on real servers
//	explorer     stepping through one execution in a page
//	acceptor, bound
//	             accepting connections, and limits on what a server may send
package adapters
