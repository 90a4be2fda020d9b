package subprocess

import (
	"os"
	"runtime"
	"sync"
)

// left says how many runs have left processors to others, and how many there are.
var left struct {
	mu        sync.Mutex
	runs, all int
}

// LeaveProcessors has us run on half of the processors until done is called, unless GOMAXPROCS says on how many: the clients'
// programs have the others. all is how many there are. What we do for a client is short, and mostly one thing after another:
// on two processors, waking each other up takes as long as the work itself.
func LeaveProcessors() (all int, done func()) {
	left.mu.Lock()
	defer left.mu.Unlock()
	if _, set := os.LookupEnv("GOMAXPROCS"); set {
		return runtime.GOMAXPROCS(0), func() {}
	}
	if left.runs == 0 {
		left.all = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS((left.all + 1) / 2)
	}
	left.runs++
	return left.all, takeBack
}

func takeBack() {
	left.mu.Lock()
	defer left.mu.Unlock()
	if left.runs--; left.runs == 0 {
		runtime.GOMAXPROCS(left.all)
	}
}
