// Package histories reads, writes and imports the record: histories and counterexamples.
//
// A history is a run as its clients saw it, one event a line: [Reader] and [Writer] for JSON Lines, [ReadEDN] and
// [WriteEDN] for Jepsen's EDN. A [Counterexample] is one JSON file that replays with nothing else.
//
// Nothing here judges. What is read from outside is checked when it is read, and what is wrong with it is said in one
// line: what was found, where, and what was expected. Package draw shows one execution, package report what a run came
// to.
package histories
