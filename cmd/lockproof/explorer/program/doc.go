// Package program contains the explorer for browsers, in WebAssembly, with the script that runs it there.
//
// The WebAssembly file is not committed, as it has two megabytes that change with every change of the simulator and that no
// reviewer can read. Releases embed it (`make explorer` builds it, reproducibly). Any other lockproof, also one installed by
// `go install`, builds it when it is first requested, which needs go and the sources.
package program
