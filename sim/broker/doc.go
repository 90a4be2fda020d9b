// Package broker is an AMQP 0-9-1 broker as a value: a state, and commands that turn it into the next
// state and a reply. It has no clock, goroutine or randomness of its own, so the same commands give
// the same replies everywhere; it can be written down in parts and read again, so a search can rewind it.
//
// It answers as RabbitMQ does. What that means is measured, not read up: the tests of adapters/rabbitmq
// run each row of BROKER-FACTS.md, and random sequences of commands, on this broker and on a real one,
// and expect equal replies.
//
// It has the classic queues of one virtual host, and exchanges of the four types, bound to queues and to
// one another, with alternate exchanges. It has no names of its own choosing for queues, no prefetch
// count for a whole channel, no dead letters and no notification of consumers whose queue is deleted.
// Locks do nothing with exchanges, so what clients make of them is a part that is only there once they do.
//
// The broker knows connections and channels by number. A connection's number is free again as soon
// as the broker has seen its end, so whoever speaks for a client that does not know of that yet must
// remember that its number is no longer its own.
package broker
