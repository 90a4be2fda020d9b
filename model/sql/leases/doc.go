// Package leases has semaphores in a database: their options, and one client as a state machine.
//
// A lease is a row with a token, which names its owner, and an end. In the master form (2015), a client first locks the
// row of the lock in a master table, and then changes leases. In the slot form (2019), each slot is a row, which
// clients claim one by one.
//
//	options.go   decisions that the text leaves open
//	machine.go   one client, command by command
//	targets.go   the reference locks, and the mutants
package leases
