// Package sql is the commands that semaphores in a database send, and the replies to them, as plain values: not SQL, but
// what is needed of it to keep leases in rows. [Command.Text] has each as MariaDB and PostgreSQL take it.
//
// There are four tables, each with the same columns: lock_key and num, which are the primary key, token (who has it) and until
// (the end of its lease). Masters has one row for each lock, which is locked by whoever changes its leases; a row of Leases
// is one lease, whose num is its token; a row of Slots is a slot, free where its token is null or its lease over. [Narrow] is
// Slots with a column that runs out of numbers.
package sql
