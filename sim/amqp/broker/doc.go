// Package broker is an AMQP 0-9-1 broker as a value: a command turns a state into the next state and a reply. It has
// no clock, goroutine or randomness, so the same commands give the same replies everywhere. Its state is stored and
// restored in parts, so a search can rewind it.
//
// It answers as RabbitMQ does, according to measurements. The tests of adapters/amqp/rabbitmq run each fact of RabbitMQ
// in sim/FACTS.md, and random sequences of commands, on this broker and on a real one, and expect equal replies.
//
// It has one virtual host with:
//
//   - classic queues: exclusive, durable or not, deleted with their last consumer, with x-expires, x-message-ttl,
//     x-max-length, x-overflow in its three values, x-max-priority and x-single-active-consumer
//   - quorum queues, with x-delivery-limit, x-message-ttl, x-max-length and x-single-active-consumer
//   - exchanges, direct, fanout, topic and headers, bound to queues and to one another, with alternate exchanges,
//     internal, durable or not, deleted with their last binding
//   - consumers, also exclusive, with their own prefetch counts and x-priority, and with a notice when their queue is
//     deleted; basic.get; single and multiple acknowledgements; basic.recover; consumer_timeout
//   - dead letters of expired, rejected or surplus messages; a message in a cycle is dropped
//   - confirms, transactions, and returned messages
//
// It does not name queues; its callers do. It has no prefetch count for a whole channel, no streams, no quorum queues
// that expire or refuse messages, no x-max-length-bytes, no policies and no cluster. A command has taken effect when
// it is answered; a real quorum queue has some effects only moments later (FACTS Q15). The reference locks use
// neither exchanges nor dead letters, so the state has a part for them only once a client has used them.
//
// By default it behaves like RabbitMQ 3.10.8; [Like] has the options for other versions, by the name that a server
// reports. 3.10.8 and 4.0.5 were measured. Versions between them behave like the one or the other, according to
// RabbitMQ's own issues; 3.13 equals 3.10 except for the successor of a cancelled single active consumer.
//
// The broker numbers connections and channels. After the end of a connection, it may give the number to a new one. A
// client that does not know of the end must not use the number any more; the caller has to prevent this.
package broker
