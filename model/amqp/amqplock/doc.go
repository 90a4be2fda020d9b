// Package amqplock has the reference locks of the amqp-locks guidelines, each a state machine with no I/O
// inside: it says which command it wants next and is handed the reply.
//
// A [Machine] is one client of one lock: a small comparable value that can be copied, compared and
// hashed. A [Protocol] is what does not change while it runs (options and queue names); its methods
// drive a machine:
//
//	p.Start(&m, lock.Acquire, 0)
//	for !m.Done() {
//		p.Apply(&m, broker.Do(p.Next(&m)))
//	}
//
// The same machine runs in the random simulator, in the exhaustive search and against a real
// RabbitMQ. It writes commands in batches: those that may be written without waiting for the
// replies of the ones before ([Machine.Pending]). A batch is one round trip.
//
// The words "A queue" (a slot), "B queue" (its holder) and "administration mutex" are those of the
// guidelines, as are the numbers of slots: they count from 1.
//
// Which queue is which: [Layout] has a lock's queues by slot, [Names] what they are called, [QueueRoles] what one is for.
// Which queue is what in a run: sim/amqp/plan.go for these locks, sim/consumption/exchange.go for locks by consumption,
// adapters/external/name_table.go for external clients.
// [Options] are the choices that the guidelines leave open. A [Design] is what a target changes of all that.
package amqplock
