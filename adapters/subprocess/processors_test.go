package subprocess

import (
	"os"
	"runtime"
	"testing"
)

// TestLeaveProcessors: this process uses half of the processors until the last run is done.
func TestLeaveProcessors(t *testing.T) {
	if _, set := os.LookupEnv("GOMAXPROCS"); set {
		t.Skip("skipped: GOMAXPROCS says on how many processors we run")
	}
	before := runtime.GOMAXPROCS(0)
	all, one := LeaveProcessors()
	_, two := LeaveProcessors()
	one()
	if half := runtime.GOMAXPROCS(0); all != before || half != (all+1)/2 {
		t.Errorf("of %d processors, said to be %d, we run on %d", before, all, half)
	}
	two()
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("we run on %d of %d processors when all is over", after, before)
	}
}
