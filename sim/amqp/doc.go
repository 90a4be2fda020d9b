// Package amqp joins RabbitMQ and the locks on it to the simulation: the clients' state machines of
// model/amqp/amqplock, and the simulated broker of sim/amqp/broker.
//
//	cluster.go    clients and broker: commands, replies, sessions, time
//	plan.go       the role of each queue for its lock
//	truth.go      the broker's state of a lock, and what is left when all clients are done
//	code.go       encoding of states, for a search
//	footprint.go  the resources that a client touches, for partial order reduction
//	options.go    the drawn options
//
// Importing the package registers the backend.
package amqp
