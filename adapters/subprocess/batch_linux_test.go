package subprocess

import (
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBatch: between LeaveProcessors and the last done, this process and the programs that it starts are batch jobs.
// After that, they are not.
func TestBatch(t *testing.T) {
	if policyOfNew(t) != unix.SCHED_NORMAL {
		t.Skip("skipped: somebody else has decided how we are scheduled")
	}
	_, one := LeaveProcessors()
	_, two := LeaveProcessors()
	one()
	if p := policyOfNew(t); p != unix.SCHED_BATCH {
		t.Errorf("a program is scheduled by the policy %d, expected %d", p, unix.SCHED_BATCH)
	}
	two()
	if p := policyOfNew(t); p != unix.SCHED_NORMAL {
		t.Errorf("a program is scheduled by the policy %d when all is over, expected %d", p, unix.SCHED_NORMAL)
	}
}

// policyOfNew starts a program and returns its scheduling policy: the 41st word of its stat file (see proc(5)).
func policyOfNew(t *testing.T) int {
	t.Helper()
	stat, err := exec.Command("cat", "/proc/self/stat").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(stat))
	return int(words[40][0] - '0')
}
