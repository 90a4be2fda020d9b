//go:build !linux

package subprocess

// setBatch does nothing: only Linux has batch jobs.
func setBatch(bool) (changed bool) { return false }
