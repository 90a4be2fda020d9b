// Package postgres is PostgreSQL at the gate: anybody's clients send its protocol to a server of our own, one command at a time, and
// the server has our clock. A command is a simple query, or what a client sends of the extended protocol up to Sync or Flush.
//
//	instance.go   the server: it is started for a run's clients and ended with them, and its time passes when we say so
//	program.go    the programs that are installed, and the files with which a server begins
//	rest.go       when the server's processes have nothing more to do
//	session.go    a connection as the protocol has it: what the client sends
//	reply.go      and what the server says
//	message.go    where messages end, and what they say
//	control.go    our own connection, by which we ask the server
//
// All of the server's time is ours: now(), pg_sleep, and the timeouts of statements, locks, deadlocks and idle sessions, which the
// server looks at again whenever we let time pass. So a deadlock is found when a second of ours has passed, deadlock_timeout.
//
// What is not done: COPY from a client, whose connection is ended; replication; encryption and passwords, which clients are not asked
// for. Clients are no superusers, and have one database for all.
package postgres
