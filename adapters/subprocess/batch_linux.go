package subprocess

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// setBatch makes all threads of this process, and all programs that it starts from now on, batch jobs (SCHED_BATCH,
// see sched(7)). If batch is false, it makes them normal again. A batch job that wakes up does not interrupt the
// running one: a client and this process wake each other for every command, and it does not matter which runs first.
// setBatch returns false if the system does not allow the change, or if the scheduling was set from outside.
func setBatch(batch bool) (changed bool) {
	from, to := uint32(unix.SCHED_BATCH), uint32(unix.SCHED_NORMAL)
	if batch {
		from, to = to, from
	}
	for again := true; again; { // repeat, since a thread may meanwhile start another with the old policy
		again = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return changed
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			attr, err := unix.SchedGetAttr(tid, 0)
			if err != nil || attr.Policy != from {
				continue
			}
			attr.Policy = to
			again = unix.SchedSetAttr(tid, attr, 0) == nil || again
		}
		changed = changed || again
	}
	return changed
}
