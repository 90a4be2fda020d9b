// Package safetext makes text from outside safe to show: names in files, output of adapters, messages of brokers. It
// alone decides which characters reach a terminal or a document. All others are escaped as in Go strings, such as
// \x1b and \u202e. Controls (C0, C1, DEL) could move a terminal's cursor or answer for the user. Overrides of the
// writing direction and other invisible characters could disguise a text. Bytes that are not valid UTF-8 are also
// escaped.
package safetext
