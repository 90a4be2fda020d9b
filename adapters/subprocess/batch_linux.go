package subprocess

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// setBatch takes all of our threads, and with them the programs started from now on, for batch jobs (SCHED_BATCH, sched(7)), or as
// usual again: one that wakes up then does not interrupt whoever is at work. A client and we wake each other up for every command, and
// what comes first is of no interest. It is false where nothing has changed: the system does not allow it, or somebody else has decided.
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
