// Package rowstore simulates a database server, MariaDB's InnoDB or PostgreSQL, as a plain value. It covers what
// semaphores in a database need: transactions, snapshots, row and gap locks, waits, deadlocks, and the clocks of
// statements. The caller sets the server's time, and there are no goroutines. A command that has to wait gets the reply
// [sql.Blocked]. Its final reply is available when another session's command has ended the wait.
//
// Both dialects share rows and sessions (store.go, session.go). They differ in kind. InnoDB locks each row that it
// scans and the gap before it, and reads the row after the wait (innodb.go). PostgreSQL looks for rows in a snapshot,
// locks the rows that it found, and looks again if they have changed since (postgres.go). For both, gap.go decides
// which session waits for which and whose wait is over, and finds deadlocks; weight.go chooses a deadlock's victim.
//
// Tests in adapters/sql compare each of its replies with both servers'. It leaves out PostgreSQL's SERIALIZABLE, which
// the options refuse, and InnoDB's purge: a deleted row is removed when its last lock is released. Sessions that wait
// for a row continue in the order of their arrival.
package rowstore
