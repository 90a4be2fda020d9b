// Package states has what searches keep of the states that they visit, in memory and in files.
//
// A state is made of parts, and each part is stored once and known by a number ([Table]); so is what may be seen of a
// client ([Views]). Sets of such numbers are a [Set]. [Encoder] and [Decoder] write and read them; [Open] reads a file only
// if it is whole.
package states
