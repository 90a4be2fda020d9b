// Package databases is real MariaDB and PostgreSQL, for what was decided on the simulated row store: the commands
// of model/sql are sent on connections of their own, and what comes back is read as the same replies.
//
// [Find] (find.go) says where a server is: LOCKPROOF_MYSQL_URL and LOCKPROOF_POSTGRES_URL, else one on the usual port of
// this machine. [Server.Database] makes a database of its own name there, which goes when it is closed; one that a run has
// left behind goes after an hour. Whether a command waits for a lock is asked of the server ([Session.Reply], session.go),
// and never guessed from the time that it takes.
//
// [Server.Replay] carries out a trace there: time is virtual then (clock.go), and what goes wrong in it is done to the
// sessions' sockets (line.go).
package databases
