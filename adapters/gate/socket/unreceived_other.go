//go:build !linux

package socket

// Unreceived is false: it is not needed on systems without virtual time.
func (*Reader) Unreceived() bool { return false }
