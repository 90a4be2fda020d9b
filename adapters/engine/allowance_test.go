package engine

import (
	"context"
	"testing"
	"time"
)

// ended is the time of a run of which some parts are over.
func ended(t *testing.T, whole, sampling bool) allowance {
	over, stop := context.WithCancel(t.Context())
	stop()
	a := allowance{t.Context(), t.Context()}
	if sampling || whole {
		a.sampling = over
	}
	if whole {
		a.whole = over
	}
	return a
}

// TestAllowance: the search ends with the time of the run, and earlier where there is something to make smaller; what
// is left is shared by what is to be made smaller.
func TestAllowance(t *testing.T) {
	for _, k := range []struct{ whole, sampling, found, spent bool }{
		{false, false, true, false}, {false, true, false, false}, {false, true, true, true}, {true, true, false, true},
	} {
		if got := ended(t, k.whole, k.sampling).spent(k.found); got != k.spent {
			t.Errorf("%+v: %v", k, got)
		}
	}
	a, cancel := allow(t.Context(), 24*time.Hour)
	defer cancel()
	whole, _ := a.whole.Deadline()
	sampling, _ := a.sampling.Deadline()
	if kept := whole.Sub(sampling).Round(time.Minute); kept != 24*time.Hour/5 {
		t.Errorf("%v of a day are kept", kept)
	}
	for _, k := range []struct {
		left, at int
		hours    time.Duration
	}{{4, 1, 6}, {4, 2, 12}, {1, 2, 24}, {3, 8, 24}} {
		portion, cancel := a.portion(k.left, k.at)
		defer cancel()
		end, _ := portion.Deadline()
		if got := time.Until(end).Round(time.Hour); got != k.hours*time.Hour {
			t.Errorf("%d left, %d at a time: %v, expected %d hours", k.left, k.at, got, k.hours)
		}
	}
	free, cancel := allow(t.Context(), 0)
	defer cancel()
	if _, limited := free.whole.Deadline(); limited {
		t.Error("no time is a limit")
	}
}
