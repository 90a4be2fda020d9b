// Package amqp has RabbitMQ and the locks on it as a simulated world takes them: machines of
// model/amqp/amqplock, joined with the simulated broker of sim/broker.
//
//	cluster.go    machines and broker: commands, replies, sessions, time
//	plan.go       which queue is what to which lock
//	truth.go      what the broker has of a lock, and what is left behind
//	code.go       states, for a search
//	footprint.go  what a client touches, for partial order reduction
//	options.go    which options are drawn
//
// Importing it registers the backend.
package amqp
