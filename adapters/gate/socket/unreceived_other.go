//go:build !linux

package socket

// Unreceived is false: nobody asks where clients have no clock of ours.
func (*Reader) Unreceived() bool { return false }
