// Package amqp has the commands and replies of AMQP 0-9-1 as values. They are comparable and small, so that a command
// can be recorded, compared, hashed and replayed. Names and numbers are those of the specification.
package amqp
