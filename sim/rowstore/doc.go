// Package rowstore is a database server as a plain value, as far as semaphores in a database need one: transactions,
// snapshots, row locks and gaps, waits, deadlocks, and the clocks of statements, as MariaDB's InnoDB and PostgreSQL have
// them. It has no clock of its own, and no goroutine: a command that has to wait is answered [sql.Blocked], and has
// its answer when somebody else's command has ended the wait.
//
// Both dialects share rows and sessions (store.go, session.go). What differs, differs in kind. InnoDB locks each row that
// it scans and the gap before it, and reads the row after it has waited (innodb.go). PostgreSQL looks for rows in a
// snapshot, locks what it found there, and looks again if that has changed since (postgres.go). For both, gap.go decides who
// waits for whom and whose wait is over, and finds deadlocks; weight.go chooses a deadlock's victim.
//
// It is compared with both servers at every reply, see adapters/databases. What it leaves out: PostgreSQL's SERIALIZABLE,
// which is refused where options are read; InnoDB's purge: a deleted row goes when nobody has a lock on it any more; and any
// order but the one of arrival among those who wait for a row.
package rowstore
