//go:build !linux

package subprocess

// setBatch does nothing: batch jobs are known on Linux alone.
func setBatch(bool) (changed bool) { return false }
