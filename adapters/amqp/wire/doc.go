// Package wire implements AMQP 0-9-1 for external clients: unmodified clients connect to a [Server], with a gate and a
// broker behind it.
//
// The goroutine of each connection decodes its client's commands and passes them in order to the [Gate]. A gate lets a
// [Command] through at any time, from any goroutine; the [Backend] carries it out. The broker's reply comes back to the gate
// as an [Answer], which the gate sends, keeps or loses. The gate may also merge a confirm with the next one. With [Through],
// the gate that is always open, the server is a plain broker or proxy. [Together] also confirms several messages at once.
//
// There are two backends. [Simulated] is the simulated broker of package sim/amqp/broker, as it is used everywhere. This
// package adds names, bodies and texts to it, and decides nothing about queues and exchanges itself. A [Proxy] is a real
// RabbitMQ, with a connection for each client. Scripts, and amqp091-go's own tests, compare the two from the clients' point
// of view.
package wire
