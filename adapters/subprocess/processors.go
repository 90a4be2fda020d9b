package subprocess

import (
	"os"
	"runtime"
	"sync"
)

// left says how many runs have left processors to others, how many there are, and whether we were made a batch job for it.
var left struct {
	mu        sync.Mutex
	runs, all int
	batch     bool
}

// LeaveProcessors has us run as a batch job (SCHED_BATCH, if there is such a thing) until done is called. We then run on
// half of the processors, unless GOMAXPROCS says on how many: the clients' programs have the others. all is how many there
// are. Our work for a client is short, and mostly one thing after another: on two processors, waking each other up takes as
// long as the work itself.
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
