package external

import (
	"testing"
	"time"
)

// TestHabit: what never comes by itself is looked for twice; what was seen to come is waited for with all patience, less
// and less where it does not come, which is said each time, and not at all after three times.
func TestHabit(t *testing.T) {
	const look, patience = time.Millisecond, time.Second
	var h habit
	timing := Timing{Patience: patience}.withDefaults()
	wait := func(want time.Duration) {
		t.Helper()
		if got := h.limit(0, look, &timing); got != want {
			t.Errorf("%+v: waits %v, expected %v", h, got, want)
		}
	}
	comes := func(sent int, usual bool) {
		t.Helper()
		if got := h.learn(0, sent); got != usual {
			t.Errorf("%+v: %d came, as always: %v", h, sent, got)
		}
	}
	wait(look)
	comes(0, true)
	wait(look)
	comes(0, true)
	wait(0)
	h.total = 1 // it came after all
	wait(patience)
	comes(1, true)
	for k := range habitMisses {
		wait(patience >> k)
		comes(0, false)
	}
	wait(0)
}
