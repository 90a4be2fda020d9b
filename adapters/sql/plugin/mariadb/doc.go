// Package mariadb puts MariaDB behind the gate: external clients send commands in the protocol of MySQL and MariaDB, one at
// a time, to a server that lockproof starts with a virtual clock.
//
//	instance.go   the server: its start and end, and what the gate asks of it
//	program.go    the installed programs, and a server's initial files
//	rest.go       waits until the server's threads are at rest
//	session.go    a connection: parses what the client sends
//	prepared.go   prepared statements, and the values of their parameters
//	reply.go      parses what the server sends
//	packet.go     packets and their fields
//	control.go    our own connection to the server, as its administrator
//
// The server's time is virtual: NOW(), SLEEP, and the timeouts of GET_LOCK, rows and tables, which the server checks every
// millisecond. Only the timeout of idle connections (wait_timeout) is real. While time stands still, each statement of a
// connection adds a microsecond to NOW(6): MariaDB itself does that.
//
// These are not supported: compression, encryption and LOAD DATA LOCAL, which end the connection; cursors of clients that
// use no EOF packets; commands of replication; Oracle's MySQL servers, whose programs have other names. Audits do not count
// user-level locks. All clients use the same database.
package mariadb
