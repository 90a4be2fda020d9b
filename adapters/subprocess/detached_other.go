//go:build !linux

package subprocess

// endDetached is not to be had: what leaves its process group stays.
func endDetached(string) []string { return nil }
