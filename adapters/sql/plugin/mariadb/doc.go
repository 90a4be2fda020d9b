// Package mariadb is MariaDB at the gate: anybody's clients send the protocol of MySQL and MariaDB to a server of our own, one command at
// a time, and the server has our clock.
//
//	instance.go   the server: it is started for a run's clients and ended with them, and its time passes when we say so
//	program.go    the programs that are installed, and the files with which a server begins
//	rest.go       when the server's threads have nothing more to do
//	session.go    a connection as the protocol has it: what the client sends
//	prepared.go   statements that are prepared, and the values of their parameters
//	reply.go      and what the server says
//	packet.go     where packets end, and what they say
//	control.go    our own connection, by which we ask the server
//
// The server's time is ours: NOW(), SLEEP, and how long GET_LOCK, rows and tables are waited for, which the server looks at each
// millisecond. Not ours is after how long an idle connection is closed (wait_timeout). Each statement of a connection adds a microsecond
// to NOW(6) while time stands still, as MariaDB has it.
//
// What is not done: compression, encryption and LOAD DATA LOCAL, whose connections are ended; cursors of clients that want no EOF packets;
// commands of replication; servers of Oracle's, whose programs have other names. For audits, user-level locks are not counted.
// Clients have one database for all.
package mariadb
