// Package safetext makes text from outside safe to show: names in files, what adapters print, what brokers say.
// It is the one place that decides which characters reach a terminal or a document. All others are written as Go
// writes them in strings, such as \x1b and \u202e: controls (C0, C1, DEL), which could move a terminal's cursor or
// answer for the user; overrides of the direction of writing and whatever else has no shape of its own, by which a
// text could be read as another one; and bytes that are no UTF-8.
package safetext
