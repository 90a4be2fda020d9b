// Package explore visits every execution of a configuration of a lock of this module (explore.go), or of any number of clients
// (any.go), judges every one, and gives the shortest execution found that violates a property; least.go says whether there
// can be a shorter one. The searches are those of package sim/search: here they get their bounds, and their results the
// words of a report (space.go), the command that repeats them (command.go) and the graph of their states (graph.go).
package explore
