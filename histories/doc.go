// Package histories reads, writes and imports records: histories and counterexamples.
//
// A history is a run as its clients saw it, one event in each line: [Reader] and [Writer] for JSON Lines, [EDNReader]
// and [WriteEDN] for Jepsen's EDN. A [Counterexample] is one JSON file that suffices for a replay.
//
// The package does not judge. It checks input while reading, and reports an error in one line: what was found, where,
// and what was expected. Package draw shows one execution, package report the result of a run.
package histories
