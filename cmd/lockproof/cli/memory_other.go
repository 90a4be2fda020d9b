//go:build !linux

package cli

import "math"

// systemMemory is the maximum memory of this process in bytes, if the system reports it.
func systemMemory() int64 { return math.MaxInt64 }
