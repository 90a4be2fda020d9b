// Package program contains the explorer for browsers as WebAssembly, and the script that runs it in a browser.
//
// The WebAssembly file is not committed: it is 2 MB large, changes with every change of the simulator, and cannot be
// reviewed. Releases embed it; `make explorer` builds it reproducibly. Any other lockproof, for example one installed
// by `go install`, builds the file when it is first requested, which needs go and the sources.
package program
