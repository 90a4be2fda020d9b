// Package protocol runs lock machines that users of this module write in Go: variants of the reference lock.
//
// The project's own machines are trusted to terminate and to send valid commands. A user's machine may panic, run for
// ever, or send an impossible command. It may also depend on data outside its state; then a search that merges equal
// states would prove something false. A [Guard] checks each call of such a machine. The first mistake ends every
// operation, and becomes the error of the run.
package protocol
