// Package sql has the commands of semaphores in a database, and their replies, as plain values. The commands are not
// SQL texts, but the part of SQL that leases in rows need. [Command.Text] is a command's text for MariaDB or
// PostgreSQL.
//
// There are four tables with the same columns: lock_key and num, which are the primary key, token (the owner) and
// until (the end of its lease). Masters has one row for each lock; a client locks it to change the lock's leases. A
// row of Leases is one lease, whose num is its token. A row of Slots is a slot, which is free if its token is null or
// its lease is over. [Narrow] is Slots with a column that runs out of numbers.
package sql
