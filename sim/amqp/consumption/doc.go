// Package consumption joins the locks by consumption on RabbitMQ (model/amqp/consumption) to the simulation, as
// sim/amqp does for the locks by queues. It has the clients' state machines, and the simulated broker of
// sim/amqp/broker.
//
//	cluster.go   clients and broker: commands, replies, deliveries, sessions, time
//	exchange.go  the description of a command for its lock
//	truth.go     the holder or consumer of each message, its slot number, and leftovers
//	code.go      encoding of states, for a search
//
// Importing the package registers the backend.
package consumption
