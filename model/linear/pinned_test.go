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

// pinnedReadings are the readings, and two of a lock with permits.
var pinnedReadings = append(slices.Clone(readings), Options{Permits: 2}, Options{FailedRelease: KeepsBelief, FailedAcquire: property.Strong, Permits: 1})

// TestPinnedSpecifications holds against a file what porcupine is given of drawn histories: the atomic steps, their
// times, where they are cut and into which parts; and what the search comes to, with few steps and with many.
func TestPinnedSpecifications(t *testing.T) {
	f := pinned.New(t)
	for n, o := range pinnedReadings {
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

// TestPinnedFrontier holds against a file what drawn histories are taken for, and every state that the fast check is left
// with after each event, with as much effort as it has and with little; and what is kept of a history that is read.
func TestPinnedFrontier(t *testing.T) {
	f := pinned.New(t)
	for n, o := range pinnedReadings {
		f.Block(fmt.Sprintf("reading %d", n), 400, func(i int, seen *pinned.Seen) {
			choose := bySeed(uint64(90_000 + 1000*n + i))
			d := drawAny(choose)
			d.steps = min(d.steps, 50)
			h := drawHistory(choose, d)
			h.GoneMayFree = i%7 == 3
			r := new(normaliser)
			if err := r.normalise(h, 0, o); err != nil {
				seen.Count("not valid")
				return
			}
			tellNormaliser(seen, r)
			if r.unproven || r.inconsistent() {
				return
			}
			if r.unnamed {
				tellPermits(seen, r, o)
			} else {
				for _, e := range []effort{efforts[0], {keep: 2, most: 6, work: 200}} {
					tellFrontier(seen, r, o, e)
				}
			}
			tellRead(seen, h, o, 8+i%40)
		})
	}
	f.Compare("testdata/frontier.txt", *rewrite)
}

func tellNormaliser(seen *pinned.Seen, r *normaliser) {
	for i := range r.calls {
		seen.Printf("%+v %d %v\n", r.calls[i], r.calls[i].ends(), r.calls[i].staged())
	}
	seen.Printf("%v %v %v %v %d %d %v %d|", r.at, r.pending, r.clients.list, r.clients.late, r.first, r.slots, r.unnamed, r.permits)
	seen.Printf("%v %v %v %v %v %+v %v %v|", r.witnessed, r.uncertain, r.unknownSessions, r.unproven, r.named, r.admin, r.moved, r.shrinks)
	seen.Printf("%v %v %v %+v\n", r.nondeterministic, r.last, r.disturbed, r.facts())
}

// tellFrontier are all states, event by event.
func tellFrontier(seen *pinned.Seen, r *normaliser, o Options, e effort) {
	w := new(frontier)
	w.reset(r, o.FailedAcquire, e)
	for i, k := range r.at {
		found, over := w.event(int32(i), k)
		for _, st := range w.states {
			seen.Printf("%+v ", *st)
		}
		seen.Printf("%d %d %v %v %v %v %v %d\n", w.work, w.fulls, w.waiting, w.staged, w.free, w.floatingReleases, w.incomplete, len(w.queues))
		if over {
			seen.Count(found.Decision.String())
			seen.Printf("%+v", found)
			return
		}
	}
	seen.Count("legal")
}

func tellPermits(seen *pinned.Seen, r *normaliser, o Options) {
	p := new(permits)
	p.reset(r, o.FailedAcquire)
	for i, k := range r.at {
		found, over := p.event(int32(i), k)
		seen.Printf("%v %d %d %+v\n", p.held, p.room, p.full, found)
		if over {
			return
		}
	}
}

// tellRead is what is kept of a history of which so many events are at hand at once.
func tellRead(seen *pinned.Seen, h *history.History, o Options, window int) {
	c := newCheck(h, 0, o, window)
	for i := range h.Events {
		if err := c.event(&h.Events[i]); err != nil {
			seen.Printf("%v", err)
			return
		}
		if l := c.normaliser.roll; l != nil {
			seen.Printf("%d %d %d %d %d %d %+v %s;", i, l.from, l.firstCall, len(l.kept), l.judged, len(l.opened), l.known, l.late)
		}
	}
	c.end()
	seen.Printf("%v %v %v %v %d %+v\n", c.done, c.over, c.found, c.known, c.effort, c.normaliser.facts())
}
