// Package leases has semaphores in a database as plain values: the options, and one client as a state machine.
//
// A lease is a row with a token and an end. In the master form (2015) a client first locks the lock's row in another
// table, and then changes leases. In the slot form (2019) each slot is a row, which is claimed on its own.
//
//	options.go   decisions that the text leaves open
//	machine.go   one client, command by command
//	targets.go   the reference locks, and the mutants
package leases
