package linear

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// TestPinned holds findings and verdicts on drawn histories against a file, in full, under each way to read them. Those
// that are wrong in a few places come of the same drawing.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, failed := range []FailedRelease{EndsBelief, KeepsBelief} {
		for releases := range ByAnyone + 1 {
			for s := property.Weak; s <= property.Strong; s++ {
				o := Options{FailedAcquire: s, Releases: releases, FailedRelease: failed, Steps: 3000}
				for seed := range 4 {
					var c Checker
					f.Block(fmt.Sprintf("a failed release %s belief, released by %s, %s", failed, releases, s), 600, func(i int, seen *pinned.Seen) {
						tellFindings(seen, &c, drawn.Pinned(1_000_000*seed+1000*int(releases)+10_000*int(s), i, 30), i, o)
					})
				}
			}
		}
	}
	f.Compare("testdata/pinned.txt", *rewrite)
}

// tellFindings is what is found of the i-th history of a block, in full.
func tellFindings(seen *pinned.Seen, c *Checker, h *history.History, i int, o Options) {
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
	if i%5 == 0 {
		o.Permits = 1 + i%3
	}
	if i%11 == 0 {
		o.Steps = i
	}
	found := c.Linearizable(h, o)
	seen.Count(found.Decision.String() + " by " + found.How)
	seen.Printf("%s %d %d %d %s %s\n", found.Decision, found.Lock, found.Event, found.Slot, found.How, found.Why)
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

// TestPinnedSpecifications compares the input of porcupine for drawn histories with a file: the atomic steps, their
// times, the cuts and the parts. It also compares the results of the search with few steps and with many.
func TestPinnedSpecifications(t *testing.T) {
	f := pinned.New(t)
	for n, o := range pinnedReadings {
		for seed := range 4 {
			f.Block(fmt.Sprintf("reading %d", n), 300, func(i int, seen *pinned.Seen) {
				h := drawn.Pinned(1_000_000*seed+70_000+1000*n, i, 40)
				h.GoneMayFree = i%7 == 3
				if Validate(h) != nil {
					seen.Count("not valid")
					return
				}
				for l := range h.Locks {
					tellLock(seen, h, l, o, i)
				}
				found, err := checkRead(&history.History{Kind: h.Kind, Locks: h.Locks, Slots: h.Slots, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree}, source(h), o, 8+i%40)
				seen.Printf("%+v %v", found, err)
			})
		}
	}
	f.Compare("testdata/specifications.txt", *rewrite)
}

// tellLock prints porcupine's input for one lock, and its result.
func tellLock(seen *pinned.Seen, h *history.History, l int, o Options, i int) {
	p, err := Specify(h, l, o)
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
	if i%4 == 0 {
		seen.Printf("%+v", LongestPrefix(h, l, o, time.Hour))
	}
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

// TestPinnedFrontier compares drawn histories with a file: their operations, and every state of the fast check after
// each event, with full and with little effort. It also has the part that is kept of a history that is read.
func TestPinnedFrontier(t *testing.T) {
	f := pinned.New(t)
	for n, o := range pinnedReadings {
		for seed := range 4 {
			f.Block(fmt.Sprintf("reading %d", n), 400, func(i int, seen *pinned.Seen) {
				h := drawn.Pinned(1_000_000*seed+90_000+1000*n, i, 50)
				h.GoneMayFree = i%7 == 3
				l := i / 8 % len(h.Locks)
				r := new(normaliser)
				if err := r.normalise(h, l, o); err != nil {
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
				tellRead(seen, h, l, o, 8+i%40)
			})
		}
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

// tellRead prints the part that is kept of a history that is read with a window of events.
func tellRead(seen *pinned.Seen, h *history.History, l int, o Options, window int) {
	c := newCheck(h, l, o, window)
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

// TestPinnedMalformed compares the errors of malformed drawn histories with a file: impossible fields, missing or
// repeated events, and locks without slots.
func TestPinnedMalformed(t *testing.T) {
	f := pinned.New(t)
	for seed := range 3 {
		f.Block("malformed", 600, func(i int, seen *pinned.Seen) {
			h := drawn.Pinned(2_000_000+10_000*seed, i, 20)
			choose := drawn.BySeed(uint64(i))
			for range 1 + choose.Below(2) {
				distort(choose, h)
			}
			err := Validate(h)
			if seen.Printf("%v ", err); err != nil {
				seen.Count("malformed")
			}
			seen.Printf("%+v", Check(h, Options{Steps: 500}))
		})
	}
	f.Block("bounds", 4, func(i int, seen *pinned.Seen) {
		seen.Printf("%v %v", tooLong(endless+i), Validate(&history.History{Locks: []string{"jobs"}, Slots: []int{maxHistorySlots - 2 + i}}))
	})
	f.Compare("testdata/malformed.txt", *rewrite)
}

// distort changes a history in one place to what it hardly can be.
func distort(choose drawn.Chooser, h *history.History) {
	number := []int{-1, 0, 1, 2, 3, 5, 40, 254, 255, 65534, 65535}[choose.Below(11)]
	few := choose.Below(6) // more slots take more time
	if choose.Below(12) == 0 || len(h.Events) == 0 {
		h.Slots = append(h.Slots[:choose.Below(len(h.Slots)+1)], few-1)
		return
	}
	at := choose.Below(len(h.Events))
	switch e := &h.Events[at]; choose.Below(10) {
	case 0:
		e.F = history.F(number)
	case 1:
		e.Process = int32(number)
	case 2:
		e.Lock = uint16(number)
	case 3:
		e.Type = history.EventType(number)
	case 4:
		e.Slot = uint16(few)
	case 5:
		e.Slots = uint16(few)
	case 6:
		e.Held = !e.Held
	case 7:
		e.Target = int32(number)
	case 8:
		h.Events = slices.Delete(h.Events, at, at+1)
	case 9:
		h.Events = slices.Insert(h.Events, at, *e)
	}
}
