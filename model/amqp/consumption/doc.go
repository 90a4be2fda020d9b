// Package consumption has locks that are held by consuming from a RabbitMQ queue, unlike the locks of the amqp-locks
// guidelines, which are held by exclusive queues. Each is a state machine without I/O.
//
//	true mutex        one queue; its exclusive consumer holds the lock
//	persistent mutex  the same; the queue exists while the mutex is enabled
//	semaphore         one queue with a message, a token, for each slot; a client with an unacknowledged token
//	                  holds a slot ("semaphores in RabbitMQ", the form that the guidelines improve upon)
//	administered      that semaphore with a second queue that has one message for each slot, and the guidelines'
//	semaphore         administration mutex: administration changes both queues in one transaction
//
// A [Machine] is one client of one lock, as in package amqplock: it returns its next command and receives the reply.
// It sends one command at a time. [Protocol.Take] hands it deliveries (a token, basic.cancel).
//
// options.go has the options, targets.go the references and mutants.go their mutants. Tokens have no slot numbers. The
// simulated cluster, which connects machines and broker, gives each held token a slot number and passes the number to
// the machine with the reply. A machine makes no decision by that number.
package consumption
