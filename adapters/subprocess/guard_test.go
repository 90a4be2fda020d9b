//go:build unix

package subprocess

import (
	"os"
	"syscall"
	"testing"
)

// TestGuard: as long as there are programs, there is one guard for all of them. If the guard is killed, the next
// program starts another one.
func TestGuard(t *testing.T) {
	start := func() *child {
		c, err := startChild("cat", "", os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	end := func(c *child) {
		c.kill()
		<-c.ended
		c.release()
	}
	pid := func() int {
		guarded.mu.Lock()
		defer guarded.mu.Unlock()
		if guarded.cmd == nil {
			return 0
		}
		return guarded.cmd.Process.Pid
	}
	one, two := start(), start()
	first := pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatalf("there is no guard: %v", err)
	}
	guarded.mu.Lock()
	_, _ = guarded.cmd.Process.Wait()
	guarded.mu.Unlock()
	three := start()
	second := pid()
	if second == first || second == 0 {
		t.Errorf("another guard is %d, the first was %d", second, first)
	}
	guarded.mu.Lock()
	for _, c := range []*child{one, two, three} {
		if !guarded.groups[c.group] {
			t.Errorf("%d is not guarded", c.group)
		}
	}
	guarded.mu.Unlock()
	end(one)
	end(two)
	if pid() != second {
		t.Error("the guard did not stay")
	}
	end(three)
	if pid() != 0 {
		t.Error("a guard is left")
	}
}
