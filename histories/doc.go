// Package histories has the record: histories, counterexamples and reports, written, read, imported
// and drawn.
//
// A history is a run as its clients saw it, one event a line: [Reader] and [Writer] for JSON Lines,
// [ReadEDN] and [WriteEDN] for Jepsen's EDN. A [Counterexample] is one JSON file that replays with
// nothing else. A [Report] is what a run came to; it is printed as a card, as JSON or as JUnit's XML.
// [Draw] and [Page] show one execution as a space-time diagram, in a terminal or as a page.
//
// Nothing here judges. What is read from outside is checked when it is read, and what is wrong with
// it is said in one line: what was found, where, and what was expected.
package histories
