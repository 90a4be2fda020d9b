package subprocess

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// setBatch makes all of our threads, and the programs started from now on, batch jobs (SCHED_BATCH, sched(7)), or usual
// ones again. A batch job that wakes up does not interrupt the one that is at work. A client and we wake each other up for
// every command, and their order is of no interest. The result is false if the system does not allow it, or if somebody
// else has decided.
func setBatch(batch bool) (changed bool) {
	from, to := uint32(unix.SCHED_BATCH), uint32(unix.SCHED_NORMAL)
	if batch {
		from, to = to, from
	}
	for again := true; again; { // threads may begin others meanwhile, as they themselves are
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
