package foreign

import (
	"testing"
	"time"
)

// TestTimeIsUp: a client that may wait for the lock goes on by a clock of its own once its time is up, however busy the machine
// was, unless a step has let that time pass.
func TestTimeIsUp(t *testing.T) {
	past, future := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		repose repose
		counts int
	}{
		"may not wait":           {repose{asleep: true}, 0},
		"in time":                {repose{until: future}, 0},
		"left alone":             {repose{until: future, asleep: true}, 1},
		"time is up":             {repose{until: past}, 1},
		"time is up by the step": {repose{until: past, due: true}, 0},
	} {
		s, a := new(Runner), &clientHandle{repose: c.repose}
		for range 2 { // it is counted once
			s.wakes(a)
		}
		if s.uncontrolled.Thought != c.counts || a.asleep {
			t.Errorf("%s: counted %d times, not %d", name, s.uncontrolled.Thought, c.counts)
		}
	}
}
