//go:build !linux

package cli

import "math"

// systemMemory returns the largest int64, because the memory limit of this system is unknown.
func systemMemory() int64 { return math.MaxInt64 }
