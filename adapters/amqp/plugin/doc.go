// Package plugin is AMQP at the gate: package [gate] says what it has to offer. Package wire has the protocol; here are its
// connections and commands as the gate knows them (conn.go, command.go), what a command means (exchange.go), who holds a lock
// (holders.go), and the brokers that stand behind the gate (server.go).
package plugin
