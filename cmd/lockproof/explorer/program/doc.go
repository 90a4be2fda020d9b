// Package program has the explorer's program for browsers, in WebAssembly, and what runs it there.
//
// It is not committed: it is two megabytes that change with every change of the simulator and that no reviewer can
// read. A release has it embedded (`make explorer` makes it, reproducibly). Any other lockproof was built where go
// and the sources are, also if by `go install`. It builds the program when it is first asked for.
package program
