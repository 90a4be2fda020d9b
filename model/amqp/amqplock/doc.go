// Package amqplock has the reference locks of the amqp-locks guidelines. Each is a state machine without I/O: it
// returns its next command and receives the reply.
//
// A [Machine] is one client of one lock: a small comparable value that can be copied, compared and hashed. A
// [Protocol] is the fixed part (options and queue names); its methods drive a machine:
//
//	p.Start(&m, lock.Acquire, 0)
//	for !m.Done() {
//		p.Apply(&m, broker.Do(p.Next(&m)))
//	}
//
// The same machine runs in the random simulator, in the exhaustive search and against a real RabbitMQ. It writes
// commands in batches: all commands of a batch may be written before the reply to the first is read
// ([Machine.Pending]). A batch is one round trip.
//
// The guidelines define the words "A queue" (its existence means that a slot exists), "B queue" (its owner holds the
// slot) and "administration mutex". They also number slots from 1.
//
// [Layout] has a lock's queues by slot, [Names] makes their names, and [QueueRoles] has their roles. The roles of the
// queues of a run are in sim/amqp/plan.go for these locks, and in sim/amqp/consumption/exchange.go for locks by
// consumption. [Options] are the choices that the guidelines leave open. A [Design] says how a target, such as a
// mutant, differs from the reference.
package amqplock
