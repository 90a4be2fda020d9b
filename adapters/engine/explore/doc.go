// Package explore visits and judges every execution of a configuration of one of this module's locks, and returns the
// shortest violating execution of each property. Packages sim/search and sim/search/anynumber do the searches. This
// package gives them their bounds, and turns their results into a report.
//
//	explore.go   a configuration
//	any.go       any number of clients
//	least.go     whether a shorter counterexample exists
//	space.go     results in the words of a report
//	command.go   the command that repeats a search
//	graph.go     the graph of its states
package explore
