//go:build !linux

package subprocess

import "io"

// output would know whether everything that a program has printed was handled.
type output struct{}

func newOutput(from stream) (io.Reader, *output) { return from, new(output) }

// unread returns false. It is needed only with virtual time, which this system does not support.
func (*output) unread() bool { return false }

// unread returns false. It is needed only with virtual time, which this system does not support.
func (*child) unread() bool { return false }
