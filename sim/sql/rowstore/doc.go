// Package rowstore is a database server as a plain value, MariaDB's InnoDB or PostgreSQL, as far as semaphores in a
// database need one. It has transactions, snapshots, row locks and gaps, waits, deadlocks, and the clocks of statements. It
// has no clock of its own, and no goroutine. A command that has to wait is answered [sql.Blocked], and gets its reply when
// another session's command has ended the wait.
//
// Both dialects share rows and sessions (store.go, session.go). They differ in kind. InnoDB locks each row that it
// scans and the gap before it, and reads the row after the wait (innodb.go). PostgreSQL looks for rows in a snapshot,
// locks the rows that it found, and looks again if they have changed since (postgres.go). For both, gap.go decides
// which session waits for which and whose wait is over, and finds deadlocks; weight.go chooses a deadlock's victim.
//
// It is compared with both servers at every reply, see adapters/sql. It leaves out PostgreSQL's SERIALIZABLE,
// which the options refuse, and InnoDB's purge: a deleted row goes when its last lock does. Sessions that wait for a
// row continue in the order of their arrival.
package rowstore
