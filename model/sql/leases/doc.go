// Package leases has semaphores in a database as plain values: the options, and one client as a state machine.
//
// A lease is a row with a token and an end. In the master form a client first locks the lock's row in another table,
// and then changes leases (2015). In the slot form there is a row for each slot, which is claimed on its own (2019).
//
//	options.go   decisions that the text leaves open
//	machine.go   one client, command by command
package leases
