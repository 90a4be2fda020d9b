// Package wire is AMQP 0-9-1 for other people's clients.
package wire
