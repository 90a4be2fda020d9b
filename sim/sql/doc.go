// Package sql is semaphores in a database, simulated: machines of clients (machine.go) on one row store (cluster.go), as two
// backends, mariadb and postgres, since what is right on one is wrong on the other.
//
// A lease is a row with a token and an end. Two forms: in the master form whoever changes the leases of a lock first locks
// the lock's row in another table (2015); in the slot form there is a row for each slot, which is claimed by itself (2019).
// The options are in options.go, and README.md says what each makes of the properties.
package sql
