// Package broker is an AMQP 0-9-1 broker as a value: a state, and commands that turn it into the next
// state and a reply. It has no clock, goroutine or randomness of its own, so the same commands give
// the same replies everywhere; it can be written down in parts and read again, so a search can rewind it.
//
// It answers as RabbitMQ does. What that means is measured, not read up: the tests of adapters/rabbitmq
// run each fact that sim/FACTS.md has of RabbitMQ, and random sequences of commands, on this broker and on a real one,
// and expect equal replies.
//
// It has, of one virtual host:
//
//   - classic queues: exclusive, durable or not, deleted with their last consumer, with x-expires, x-message-ttl,
//     x-max-length, x-overflow in its three values, x-max-priority and x-single-active-consumer
//   - quorum queues, with x-delivery-limit, x-message-ttl, x-max-length and x-single-active-consumer
//   - exchanges, direct, fanout, topic and headers, bound to queues and to one another, with alternate exchanges,
//     internal, durable or not, deleted with their last binding
//   - consumers, exclusive ones too, with prefetch counts of their own and x-priority, who are told when their queue is
//     gone; basic.get; acknowledgements one by one or many at once; basic.recover; consumer_timeout
//   - dead letters, of messages that expired, were too many or were rejected; one that would come back to a queue it has been
//     in (a cycle) is dropped
//   - confirms, transactions, and messages that come back
//
// It does not name queues (whoever speaks for clients does that), and has no prefetch count for a whole channel, no streams,
// no quorum queues that expire or refuse messages, no x-max-length-bytes, no policies and no cluster. What it is told has
// happened when it has answered; a real quorum queue carries out some things only moments later (FACTS Q15). The reference
// locks do nothing with exchanges or dead letters, so the state has a part for them only once a client has used them.
//
// It is RabbitMQ 3.10.8, and [Like] has the options for other versions, by the name that a server gives itself. 3.10.8 and
// 4.0.5 were measured; what is between them follows the one or the other as RabbitMQ's own issues say, and 3.13 is as 3.10
// but for the successor of a single active consumer that is cancelled.
//
// The broker knows connections and channels by number. A connection's number is free again as soon
// as the broker has seen its end, so whoever speaks for a client that does not know of that yet must
// remember that its number is no longer its own.
package broker
