// Package wire implements AMQP 0-9-1 for external clients: unmodified clients connect to a [Server], with a gate and a
// broker behind it.
//
// The goroutine of each connection decodes its client's commands and passes them in order to the [Gate]. A gate lets a
// [Command] through at any time, from any goroutine; the [Backend] carries it out. The broker's reply comes back to the
// gate as an [Answer]. The gate sends it, holds it back or drops it. The gate may also merge a confirm with the next
// one. With [Through], the gate that is always open, the server is a plain broker or proxy. [Together] also confirms
// several messages at once.
//
// There are two backends. [Simulated] is the simulated broker of package sim/amqp/broker. This package adds names,
// message bodies and error texts to it; what happens to queues and exchanges is decided there. A [Proxy] is a real
// RabbitMQ, with a connection for each client. Scripts, and amqp091-go's own tests, compare the two from the clients'
// point of view.
package wire
