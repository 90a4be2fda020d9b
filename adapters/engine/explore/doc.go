// Package explore has every execution of a configuration of a lock of this module visited and judged, and gives the shortest
// one found that violates a property. The searches are those of sim/search and sim/search/anynumber: here they get their
// bounds, and their results become a report.
//
//	explore.go   a configuration
//	any.go       any number of clients
//	least.go     whether there can be a shorter counterexample
//	space.go     results in the words of a report
//	command.go   the command that repeats a search
//	graph.go     the graph of its states
package explore
