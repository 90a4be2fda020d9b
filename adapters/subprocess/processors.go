package subprocess

import (
	"os"
	"runtime"
	"sync"
)

// left is the state of LeaveProcessors. runs is the number of its callers that have not called done. all is GOMAXPROCS
// before the first of these calls. batch is whether this process was made a batch job.
var left struct {
	mu        sync.Mutex
	runs, all int
	batch     bool
}

// LeaveProcessors makes this process a batch job (SCHED_BATCH, if the system has it) until done is called. It then uses half
// of the processors, unless GOMAXPROCS is set, and leaves the others to the clients' programs. all is the number of
// processors. Our work for a client is short and mostly sequential: on two processors, waking each other up takes as long as
// the work itself.
func LeaveProcessors() (all int, done func()) {
	left.mu.Lock()
	defer left.mu.Unlock()
	if left.runs == 0 {
		left.all, left.batch = runtime.GOMAXPROCS(0), setBatch(true)
		if _, set := os.LookupEnv("GOMAXPROCS"); !set {
			runtime.GOMAXPROCS((left.all + 1) / 2)
		}
	}
	left.runs++
	return left.all, takeBack
}

func takeBack() {
	left.mu.Lock()
	defer left.mu.Unlock()
	if left.runs--; left.runs > 0 {
		return
	}
	runtime.GOMAXPROCS(left.all)
	if left.batch {
		setBatch(false)
	}
}
