package beliefs

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
)

// judge returns the verdicts on a whole history.
func judge(h *history.History, o linear.Options) []linear.Verdict {
	w := New(h, o)
	for i := range h.Events {
		w.Event(i, &h.Events[i])
	}
	return w.Verdicts()
}

// TestPinned compares the verdicts on random histories with a file. It does so for each combination of two options:
// what a failed release means, and which releases are allowed.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, failed := range []linear.FailedRelease{linear.EndsBelief, linear.KeepsBelief} {
		for releases := range linear.ByAnyone + 1 {
			for seed := range 8 {
				o := linear.Options{Releases: releases, FailedRelease: failed}
				f.Block(fmt.Sprintf("a failed release %s belief, released by %s", failed, releases), 600, func(i int, seen *pinned.Seen) {
					tellVerdicts(seen, drawn.Pinned(1_000_000*seed+1000*int(releases), i, 30), i, o)
				})
			}
		}
	}
	f.Compare("testdata/pinned.txt")
}

// shown is the number of histories of each block whose violations are written out in the file.
const shown = 40

// tellVerdicts writes the verdicts on a history, which is number i of its block.
func tellVerdicts(seen *pinned.Seen, h *history.History, i int, o linear.Options) {
	h.GoneMayFree = i%7 == 3
	h.GoneLate = h.GoneLate != (i%9 == 4)
	if linear.Validate(h) != nil {
		seen.Count("not valid")
		return
	}
	if i%5 == 0 {
		o.Permits = 1 + i%3
	}
	for _, v := range judge(h, o) {
		seen.Count(v.Property.String() + " " + v.Decision.String())
		seen.Add(v.Property.String()+" checked", v.Checked)
		tell := seen.Printf
		if i < shown && v.Decision != linear.Legal {
			tell = seen.Rowf
		}
		tell("%d: %s %s at event %d: %s", i, v.Property, v.Decision, v.Event, v.Why)
	}
}

// FuzzJudge looks for histories on which a Judge panics.
func FuzzJudge(f *testing.F) {
	f.Add([]byte{3, 1, 1, 2, 9, 4, 7, 0, 5, 2, 8, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := drawn.ByBytes{Rest: &data}
		o := linear.Options{Permits: c.Below(3), Releases: linear.Releases(c.Below(2)), FailedRelease: linear.FailedRelease(c.Below(2))}
		if h := drawn.History(c, drawn.Any(c)); linear.Validate(h) == nil {
			judge(h, o)
		}
	})
}
