//go:build !linux

package cli

import "math"

// systemMemory is how many bytes this process may have at most, as far as the system says it.
func systemMemory() int64 { return math.MaxInt64 }
