//go:build !linux

package subprocess

import "io"

// output is what a program prints.
type output struct{}

func newOutput(from stream) (io.Reader, *output) { return from, new(output) }

// unread is false: it is not needed on systems without virtual time.
func (*output) unread() bool { return false }

// unread is false: it is not needed on systems without virtual time.
func (*child) unread() bool { return false }
