package linear

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/history"
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
					if i%13 == 5 {
						renumbered(h)
					}
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

// renumbered gives every second process a number that is too large to be looked up by index.
func renumbered(h *history.History) {
	for i := range h.Events {
		if e := &h.Events[i]; e.Process > 0 && e.Process%2 == 0 {
			e.Process += denseProcesses
		}
	}
}

// TestPinnedSpecifications holds against a file what porcupine is given of drawn histories: the atomic steps, their
// times, where they are cut and into which parts; and what the search comes to, with few steps and with many.
func TestPinnedSpecifications(t *testing.T) {
	f := pinned.New(t)
	for n, o := range append(slices.Clone(readings), Options{Permits: 2}, Options{FailedRelease: KeepsBelief, FailedAcquire: property.Strong, Permits: 1}) {
		f.Block(fmt.Sprintf("reading %d", n), 300, func(i int, seen *pinned.Seen) {
			choose := bySeed(uint64(70_000 + 1000*n + i))
			d := drawAny(choose)
			d.steps = min(d.steps, 40)
			h := drawHistory(choose, d)
			h.GoneMayFree = i%7 == 3
			if Validate(h) != nil {
				seen.Count("not valid")
				return
			}
			p, err := Specify(h, 0, o)
			if err != nil {
				seen.Printf("%v", err)
				return
			}
			tellSpecification(seen, p)
			for _, steps := range []int{i % 40, 4000} {
				d, left := p.Check(steps)
				seen.Count(d.String())
				seen.Printf("%v %d ", d, left)
			}
			found := p.illegal(o, 4000)
			seen.Printf("%+v ", found)
			verdicts, err := judgeRead(&history.History{Kind: h.Kind, Locks: h.Locks, Slots: h.Slots, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree}, source(h), o, 8+i%40)
			seen.Printf("%+v %v", verdicts, err)
		})
	}
	f.Compare("testdata/specifications.txt", *rewrite)
}

// tellSpecification is everything that a specification consists of.
func tellSpecification(seen *pinned.Seen, p *Specification) {
	seen.Printf("%+v %v %d %v\n", p.ticks, p.mixed, p.stages, p.stage)
	for i := range p.atomicSteps {
		u := &p.atomicSteps[i]
		seen.Printf("%+v %d %s\n", *u, p.row(u), p.describe(u))
	}
	for _, apart := range []int{1, 5, cutSize} {
		p.cuts = p.cut(apart)
		seen.Printf("%v:", p.cuts)
		for _, part := range p.partition(p.Operations()) {
			for _, op := range part {
				u := *op.Input.(*atomicStep)
				if u.set != nil {
					seen.Printf("%v", *u.set)
				}
				u.set = nil
				seen.Printf("%v %d %d %d;", u, op.ClientId, op.Call, op.Return)
			}
			seen.Printf("\n")
		}
	}
}
