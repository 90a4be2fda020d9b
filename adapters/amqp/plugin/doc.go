// Package plugin puts AMQP behind the gate, the proxy that holds each client's command until a schedule lets it pass.
// It implements the interfaces of package [gate]; package wire implements the protocol. This package has connections
// and commands (conn.go, command.go), the meaning of commands (exchange.go), the holders of a lock (holders.go), and
// the brokers behind the gate (server.go).
package plugin
