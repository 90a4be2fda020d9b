package engine

import (
	"context"
	"testing"
	"time"
)

// ended returns an allowance whose whole time, or only its time for sampling, is already over.
func ended(t *testing.T, whole, sampling bool) Allowance {
	over, stop := context.WithCancel(t.Context())
	stop()
	a := Allowance{t.Context(), t.Context()}
	if sampling || whole {
		a.Sampling = over
	}
	if whole {
		a.Whole = over
	}
	return a
}

// TestAllowance checks that the search ends when the run's time is over, or earlier if there is a counterexample to
// minimise. It also checks how the minimisations share the remaining time.
func TestAllowance(t *testing.T) {
	for _, k := range []struct{ whole, sampling, found, spent bool }{
		{false, false, true, false}, {false, true, false, false}, {false, true, true, true}, {true, true, false, true},
	} {
		if got := ended(t, k.whole, k.sampling).Spent(k.found); got != k.spent {
			t.Errorf("%+v: %v", k, got)
		}
	}
	a, cancel := Allow(t.Context(), 24*time.Hour)
	defer cancel()
	whole, _ := a.Whole.Deadline()
	sampling, _ := a.Sampling.Deadline()
	if kept := whole.Sub(sampling).Round(time.Minute); kept != 24*time.Hour/5 {
		t.Errorf("%v of a day are kept", kept)
	}
	for _, k := range []struct {
		left, at int
		hours    time.Duration
	}{{4, 1, 6}, {4, 2, 12}, {1, 2, 24}, {3, 8, 24}} {
		portion, cancel := a.Portion(k.left, k.at)
		defer cancel()
		end, _ := portion.Deadline()
		if got := time.Until(end).Round(time.Hour); got != k.hours*time.Hour {
			t.Errorf("%d left, %d at a time: %v, expected %d hours", k.left, k.at, got, k.hours)
		}
	}
	rest, cancel := a.Rest()
	defer cancel()
	if end, _ := rest.Whole.Deadline(); time.Until(end).Round(time.Minute) != 24*time.Hour/5 {
		t.Errorf("%v are left of a day when the search is over at once", time.Until(end))
	}
	free, cancel := Allow(t.Context(), 0)
	defer cancel()
	rest, cancel = free.Rest()
	defer cancel()
	for _, a := range []Allowance{free, rest} {
		if _, limited := a.Whole.Deadline(); limited {
			t.Error("no time is a limit")
		}
	}
}
