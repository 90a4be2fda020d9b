// Package program has the explorer's program for browsers, in WebAssembly, and what runs it there.
//
// It is not committed: two megabytes that change with every change of the simulator, of which nobody can see what they
// are. A release has it embedded (`make explorer` makes it, reproducibly); any other lockproof was built by somebody who
// has go and the sources, also if by `go install`, and builds it when it is first asked for.
package program
