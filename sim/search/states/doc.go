// Package states stores the states that searches visit, in memory and in files.
//
// A state is made of parts. Each part is stored once and has a number ([Table]), and so has each visible view of a
// client ([Views]). A [Set] is a set of such numbers. [Encoder] and [Decoder] write and read them; [Open] reads a
// file only if it is complete.
package states
