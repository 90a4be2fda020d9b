package history

import "testing"

// TestMoments: the time of a call names the file of both events once.
func TestMoments(t *testing.T) {
	h := &History{Events: make([]Event, 4), Places: []string{"event 0 of a", "event 1 of a", "event 0 of b", "span 7 of b"}}
	for _, test := range []struct {
		from, to int
		want     string
	}{{0, 1, "events 0 to 1 of a"}, {0, 2, "event 0 of a to event 0 of b"}, {2, 3, "event 0 of b to span 7 of b"}, {1, 1, "event 1 of a"}} {
		if got := h.Moments(test.from, test.to); got != test.want {
			t.Errorf("%d to %d: %q, expected %q", test.from, test.to, got, test.want)
		}
	}
}
