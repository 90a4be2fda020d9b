// Package protocol runs lock machines that users of this module write in Go: variants of the reference.
//
// A machine of ours is trusted to end and to make sense. A user's machine may panic, run for ever, or command what no
// client can. It may depend on data outside its state: a search that merges states would then prove what does not hold. A
// [Guard] stands between such a machine and whoever drives it: the first mistake ends every operation, and is the error of
// the run.
package protocol
