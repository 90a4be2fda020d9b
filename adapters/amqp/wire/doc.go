// Package wire is AMQP 0-9-1 for external clients: unmodified clients connect to a [Server], with a broker behind it
// and a gate in between.
//
// The goroutine of each connection decodes its client's commands and submits them in order to the [Gate]. A gate lets
// a [Command] through at any time, from any goroutine; the [Backend] carries it out. The broker's reply comes back to
// the gate as an [Answer], which it sends, keeps or loses. It may also merge a confirm with the next one. With
// [Through], the gate that is always open, this is a plain broker or proxy; [Together] confirms several messages at
// once.
//
// There are two backends. The simulated one, [Simulated], is the broker of package sim/amqp/broker, the same value as
// everywhere. This package gives it names, bodies and texts, and decides nothing about queues and exchanges itself. A
// [Proxy] is a real RabbitMQ, with a connection for each client. Scripts, and amqp091-go's own tests, compare the two from
// the clients' point of view.
package wire
