// Package recognise tells by what a lock is held on the broker, of a lock that nobody here has written: whoever has an
// exclusive queue, a message that is not acknowledged, or a consumer holds it; and how the queues are called.
//
// It is told what was seen while clients used some locks with unlike names: the commands, and what the broker had before,
// during and after each use ([Probe], in evidence.go). What comes with acquiring a lock and goes with releasing it is what
// holds it (recognise.go). The result is a [Design]; names are a [Pattern] each. Where nothing is recognised, the design
// says why.
package recognise
