// Package wire is AMQP 0-9-1 for other people's clients: a [Server] that unmodified clients connect to,
// with a broker behind it and a gate in between.
//
// The goroutine of each connection decodes what its client sends and submits it, command by command and
// in order, to the [Gate]. A gate lets a [Command] through when it likes, from whichever goroutine; the
// [Backend] carries it out; what the broker answers comes back to the gate as an [Answer], which it
// sends, keeps or loses, or, if it is a confirm, merges with the next confirm. With [Through], the
// gate that is always open, this is a plain broker or proxy; with [Together], one that confirms several messages at
// once.
//
// There are two backends. [Simulated] is the broker of package sim/broker, the same value as everywhere;
// this package gives it names, bodies and texts, and decides nothing about queues and exchanges itself. [Proxy]
// is a real RabbitMQ, to which every client has a connection of its own. What clients see of the two is
// compared script by script, and by the tests that come with amqp091-go.
package wire
