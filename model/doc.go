// Package model is what a lock is and what correct means: no clock, no randomness, no I/O. Its packages import one another
// only.
//
// For each kind of server it has the commands and replies, and the locks as state machines (amqp, redis, consul; those on
// databases are in sim/sql). The servers of Redis and Consul are so small that they stand with them; those of AMQP and SQL
// are sim/amqp/broker and sim/sql/rowstore.
package model
