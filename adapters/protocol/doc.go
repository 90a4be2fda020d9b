// Package protocol runs lock machines that users of this module write in Go: variants of the reference.
//
// A machine of ours is trusted to end and to make sense. That of somebody else may panic, run for ever, command what
// no client can, or depend on what is not in its state, so that a search that merges states would prove what does
// not hold. A [Guard] stands between such a machine and whoever drives it: the first mistake ends every operation,
// and is the error of the run.
package protocol
