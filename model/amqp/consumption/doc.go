// Package consumption has locks that stand on consuming from a RabbitMQ queue, beside those of the amqp-locks guidelines,
// which stand on exclusive queues. Each is a state machine with no I/O inside.
//
//	true mutex        one queue; whoever consumes it exclusively holds the lock
//	persistent mutex  the same, and the queue is there while the mutex is enabled
//	semaphore         one queue with a message, a token, for each slot; whoever has a token that is not acknowledged
//	                  holds a slot ("semaphores in RabbitMQ", the form that the guidelines improve upon)
//	administered      that semaphore with a second queue that has as many messages as there are slots, and the
//	semaphore         guidelines' administration mutex: all that administration changes, it changes in one transaction
//
// A [Machine] is one client of one lock, as in package amqplock: it says which command it wants next and is handed the reply.
// It sends one command at a time. What comes unasked (a token, basic.cancel) it is handed by [Protocol.Take].
//
// options.go has the options, targets.go the references and mutants.go their mutants. Tokens have no numbers. Whoever joins
// machines and broker numbers those that are held, and tells the machine with the reply: a machine never decides by that
// number.
package consumption
