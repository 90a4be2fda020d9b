// Package stock repeats a finding on unmodified servers: there is no gate that decides which command is next, and time
// is the machine's clock. In each of a number of rounds, clients call the operations of the finding in the same order.
// Calls that overlapped are started together, and each command is delayed by up to a few milliseconds. The result is
// the number of rounds in which the lock failed.
//
//	stock.go   the rounds, and their result
//	plan.go    what clients do in a round, taken from the execution of the finding
//	round.go   a round, and whether the lock failed in it
//	proxy.go   delays commands
package stock
