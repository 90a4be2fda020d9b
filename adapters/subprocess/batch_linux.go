package subprocess

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// setBatch makes all threads of this process, and the programs that it starts from now on, batch jobs (SCHED_BATCH,
// sched(7)), or normal ones again. A batch job that wakes up does not interrupt the running one. A client and this process
// wake each other for every command, and their order does not matter. The result is false if the system does not allow it,
// or if the scheduling was set from outside.
func setBatch(batch bool) (changed bool) {
	from, to := uint32(unix.SCHED_BATCH), uint32(unix.SCHED_NORMAL)
	if batch {
		from, to = to, from
	}
	for again := true; again; { // threads may start others meanwhile, with their own policy
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
