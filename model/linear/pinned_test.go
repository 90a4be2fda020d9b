package linear

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/model/pinned"
	"github.com/lockproof/lockproof/model/property"
)

// TestPinned holds findings and verdicts on drawn histories against a file, in full, under each way to read them. Those
// that are wrong in a few places come of the same drawing.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, failed := range []FailedRelease{EndsBelief, KeepsBelief} {
		for releases := range ByAnyone + 1 {
			for s := property.Weak; s <= property.Strong; s++ {
				var c Checker
				o := Options{FailedAcquire: s, Releases: releases, FailedRelease: failed, Steps: 3000}
				f.Block(fmt.Sprintf("a failed release %s belief, released by %s, %s", failed, releases, s), 600, func(i int, seen *pinned.Seen) {
					choose := bySeed(uint64(1000*int(releases) + 10_000*int(s) + i))
					d := drawAny(choose)
					d.steps = min(d.steps, 30)
					h := drawHistory(choose, d)
					if err := Validate(h); err != nil {
						seen.Count("not valid")
						seen.Printf("%v", err)
						return
					}
					h.GoneMayFree = i%7 == 3
					h.GoneLate = h.GoneLate != (i%9 == 4)
					o := o
					if i%5 == 0 {
						o.Permits = 1 + i%3
					}
					if i%11 == 0 {
						o.Steps = i
					}
					found := c.Linearizable(h, o)
					seen.Count(found.Decision.String() + " by " + found.How)
					seen.Printf("%s %d %d %d %s %s\n", found.Decision, found.Lock, found.Event, found.Slot, found.How, found.Why)
					for _, v := range Judge(h, o) {
						seen.Printf("%s %s %d %d %s\n", v.Property, v.Decision, v.Checked, v.Event, v.Why)
					}
				})
			}
		}
	}
	f.Compare("testdata/pinned.txt", *rewrite)
}
