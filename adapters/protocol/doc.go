// Package protocol runs lock machines that others have written: variants of the reference, in Go.
//
// A machine of ours is trusted to end and to make sense. That of somebody else may panic, run for ever, command what no
// client can, or decide by what is no part of its state, so that a search that merges states would prove what does not
// hold. A [Guard] stands between such a machine and whoever drives it: the first mistake ends every operation, and is the
// error of the run.
package protocol
