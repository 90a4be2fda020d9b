//go:build !linux

package socket

// Unreceived returns false. It is needed only with virtual time, which this system does not support.
func (*Reader) Unreceived() bool { return false }
