// Package postgres puts PostgreSQL behind the gate: external clients send commands, one at a time, to a server that
// lockproof starts with a virtual clock. A command is a simple query, or what a client sends in the extended protocol up to
// Sync or Flush.
//
//	instance.go   the server: its start and end, and what the gate asks of it
//	program.go    the installed programs, and a server's initial files
//	rest.go       waits until the server's processes are at rest
//	session.go    a connection: parses what the client sends
//	reply.go      parses what the server sends
//	message.go    messages and their fields
//	control.go    our own connection to the server, as its administrator
//
// All of the server's time is virtual: now(), pg_sleep, and the timeouts of statements, locks, deadlocks and idle sessions,
// which the server checks whenever we let time pass. So a deadlock is found when a virtual second has passed
// (deadlock_timeout).
//
// These are not supported: COPY from a client, which ends the connection; replication; encryption and passwords, for which
// the server does not ask. Clients are not superusers, and all use the same database.
package postgres
