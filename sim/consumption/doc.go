// Package consumption has the locks by consumption on RabbitMQ (model/amqp/consumption) as a simulated world takes
// them: their machines, joined with the simulated broker of sim/broker, as sim/amqp has those by queues.
//
//	cluster.go   machines and broker: commands, replies, what comes unasked, sessions, time
//	exchange.go  what a command was to its lock
//	truth.go     who has whose message, or consumes, and under which number; what is left behind
//	code.go      states, for a search
//
// Importing it registers the backend.
package consumption
