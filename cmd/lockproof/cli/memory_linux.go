package cli

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemMemory returns the maximum memory of this process in bytes, limited by the machine, by ulimit, and by the
// container. Without a limit it returns the largest int64.
func systemMemory() int64 {
	least := int64(math.MaxInt64)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_DATA, &limit) == nil && limit.Cur < uint64(least) {
		least = int64(limit.Cur)
	}
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil && limit.Cur < uint64(least) {
		least = max(1, int64(limit.Cur)-addresses())
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		least = min(least, int64(uint64(info.Totalram)*uint64(info.Unit)))
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 { // "max": no limit
			least = min(least, n)
		}
	}
	return least
}

// addresses returns the size of the address space that the process has reserved from its start, in bytes. ulimit -v
// counts it as well.
func addresses() (bytes int64) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := strings.Cut(string(data), " ")
	n, _ := strconv.ParseInt(pages, 10, 64) // 0 if the text is not a number
	return n * int64(os.Getpagesize())
}
