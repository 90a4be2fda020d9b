//go:build !linux

package subprocess

import "io"

// output is what a program prints.
type output struct{}

func newOutput(from stream) (io.Reader, *output) { return from, new(output) }

// unread is false: nobody asks where there is no clock of ours.
func (*output) unread() bool { return false }

// unread is false as well.
func (*child) unread() bool { return false }
