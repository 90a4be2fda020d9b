// Package databases checks the simulated row store against real MariaDB and PostgreSQL servers. It sends the commands
// of model/sql on separate connections, and converts the answers to replies of model/sql.
//
// A server is found by [Find] (find.go): LOCKPROOF_MYSQL_URL and LOCKPROOF_POSTGRES_URL, otherwise one on the usual port of
// this machine. A call of [Server.Database] makes a database with a name of its own there, and Close drops it. If a run
// dies, a later run drops its database. The server is asked whether a command waits for a lock ([Session.Reply],
// session.go); elapsed time does not decide that.
//
// [Server.Replay] carries out a trace there. Its time is virtual (clock.go), and its faults happen to the sessions'
// sockets (line.go).
package databases
