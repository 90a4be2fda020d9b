// Package stock repeats a finding on servers as they are: without a gate that decides what is next, and with the machine's clock. Clients
// call what they called when it was found, in that order, as often as is wanted. Calls that were under way at once are begun at once, and
// each command is late by up to a few milliseconds. What is counted is in how many rounds it went wrong.
//
//	stock.go   a number of rounds, and what they came to
//	plan.go    what clients do in a round, taken from the execution that was found
//	round.go   a round, and whether it went wrong
//	proxy.go   what makes commands late
package stock
