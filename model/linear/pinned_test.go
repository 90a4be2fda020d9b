package linear

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// TestPinned compares findings on random histories with a file, for each combination of Options. Some of the histories
// are changed in a few places, so that they are wrong.
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
	f.Compare("testdata/pinned.txt")
}

// tellFindings writes the finding on the i-th history of a block. It is written in full if it is among the first and
// not legal.
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
	tell := seen.Printf
	if i < 20 && found.Decision != Legal {
		tell = seen.Rowf
	}
	tell("%d: %s", i, inWords(found))
}

// inWords is a finding as one line.
func inWords(f Finding) string {
	if f.Decision == Legal {
		return "legal by " + f.How
	}
	return fmt.Sprintf("%s by %s at event %d, lock %d, slot %d: %s", f.Decision, f.How, f.Event, f.Lock, f.Slot, f.Why)
}

// renumbered gives every second process a number that is too large for a lookup by index.
func renumbered(h *history.History) {
	for i := range h.Events {
		if e := &h.Events[i]; e.Process > 0 && e.Process%2 == 0 {
			e.Process += denseProcesses
		}
	}
}

// pinnedReadings are the choices of Options that the tests use, and two with a given number of permits.
var pinnedReadings = append(slices.Clone(readings), Options{Permits: 2}, Options{FailedRelease: KeepsBelief, FailedAcquire: property.Strong, Permits: 1})

// TestPinnedSpecifications compares the input of porcupine for random histories with a file. For a few histories, the
// file has every atomic step with its interval. For the others, it has the numbers of steps and parts. It also has the
// results of the search with few and with many steps, and of CheckRead.
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
					tell := seen.Printf
					if i < 6 {
						tell = seen.Rowf
					}
					tellLock(seen, tell, h, l, o, i)
					if p, err := Specify(h, l, o); err == nil {
						tell := seen.Printf
						if seed == 0 && i < 2 {
							tell = seen.Rowf
						}
						tellSpecification(tell, p)
					}
				}
				found, err := checkRead(&history.History{Kind: h.Kind, Locks: h.Locks, Slots: h.Slots, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree}, source(h), o, 8+i%40)
				seen.Printf("%s %v", inWords(found), err)
			})
		}
	}
	f.Compare("testdata/specifications.txt")
}

// tell is a function that writes a line to the file, or only to a digest.
type tell = func(format string, args ...any)

// tellLock writes how porcupine's input for one lock is divided, and what the search decides.
func tellLock(seen *pinned.Seen, tell tell, h *history.History, l int, o Options, i int) {
	p, err := Specify(h, l, o)
	if err != nil {
		tell("%d, lock %d: %v", i, l, err)
		return
	}
	row := fmt.Sprintf("%d, lock %d: %d steps", i, l, len(p.atomicSteps))
	for _, steps := range []int{i % 40, 4000} {
		d, left := p.Check(steps)
		seen.Count(d.String())
		row += fmt.Sprintf(", %s after %d", d, steps-left)
	}
	for _, apart := range []int{1, 5, cutSize} {
		p.cuts = p.cut(apart)
		parts := p.partition(p.Operations())
		row += fmt.Sprintf(", %d parts if cut every %d events", len(parts), apart)
		for _, part := range parts {
			for _, op := range part {
				seen.Printf("%d-%d ", op.Call, op.Return)
			}
			seen.Printf("; ")
		}
	}
	if i%2 == 0 {
		f := p.illegal(o, 4000)
		row += fmt.Sprintf("; first illegal at event %d: %s", f.Event, f.Why)
	}
	tell("%s", row)
	if i%4 != 0 {
		return
	}
	if prefix := LongestPrefix(h, l, o, time.Hour); prefix != nil {
		seen.Printf("%d %s", prefix.Events, prefix.Why)
		for _, e := range prefix.Effects {
			seen.Printf("%d %v %s", e.Invocation, e.At, e.What)
		}
	}
}

// tellSpecification writes each atomic step with its interval.
func tellSpecification(tell tell, p *Specification) {
	for i := range p.atomicSteps {
		u := &p.atomicSteps[i]
		may := ""
		if u.partial {
			may = ", perhaps"
		}
		tell("    %s, between %d and %d%s", p.describe(u), u.from, u.to, may)
	}
}

// TestPinnedFrontier compares the fast check of random histories with a file: its decision and its amount of work. The
// check runs with full and with little effort, and while the history is read.
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
				if r.unproven || r.inconsistent() {
					return
				}
				row := fmt.Sprintf("%d: %d calls, ", i, len(r.calls))
				if r.unnamed {
					row += tellPermits(r, o)
				} else {
					row += tellFrontier(seen, r, o, efforts[0])
					if few := tellFrontier(seen, r, o, effort{keep: 2, most: 6, work: 200}); !strings.HasSuffix(row, few) {
						row += "; with little effort " + few
					}
				}
				row += "; read: " + tellRead(h, l, o, 8+i%40)
				if i < 6 {
					seen.Rowf("%s", row)
				} else {
					seen.Printf("%s", row)
				}
			})
		}
	}
	f.Compare("testdata/frontier.txt")
}

// tellFrontier is the decision of the fast check and its amount of work, in words.
func tellFrontier(seen *pinned.Seen, r *normaliser, o Options, e effort) string {
	w := new(frontier)
	w.reset(r, o.FailedAcquire, e)
	states := 0
	for i, k := range r.at {
		found, over := w.event(int32(i), k)
		if states += len(w.states); over {
			seen.Count(found.Decision.String())
			return fmt.Sprintf("%d states, %d work, %s", states, w.work, inWords(found))
		}
	}
	seen.Count("legal")
	return fmt.Sprintf("%d states, %d work, legal", states, w.work)
}

// tellPermits is the decision of the fast check for a lock whose acquires name no slots, in words.
func tellPermits(r *normaliser, o Options) string {
	p := new(permits)
	p.reset(r, o.FailedAcquire)
	held := 0
	for i, k := range r.at {
		found, over := p.event(int32(i), k)
		if held = max(held, len(p.held)); over {
			return inWords(found)
		}
	}
	return fmt.Sprintf("%d permits held at most, legal", held)
}

// tellRead is the decision on a history that is read with a window of events, and the largest number of older calls
// kept.
func tellRead(h *history.History, l int, o Options, window int) string {
	c := newCheck(h, l, o, window)
	kept := 0
	for i := range h.Events {
		if err := c.event(&h.Events[i]); err != nil {
			return err.Error()
		}
		if l := c.normaliser.roll; l != nil {
			kept = max(kept, len(l.kept))
		}
	}
	if c.end(); !c.done {
		return fmt.Sprintf("%d calls kept, not decided", kept)
	}
	return fmt.Sprintf("%d calls kept, %s", kept, inWords(c.found))
}

// TestPinnedMalformed compares the errors for malformed random histories with a file. They have impossible fields,
// missing or repeated events, or locks without slots.
func TestPinnedMalformed(t *testing.T) {
	f := pinned.New(t)
	for seed := range 3 {
		f.Block("malformed", 600, func(i int, seen *pinned.Seen) {
			h := drawn.Pinned(2_000_000+10_000*seed, i, 20)
			choose := drawn.BySeed(uint64(i))
			for range 1 + choose.Below(2) {
				distort(choose, h)
			}
			tell, found := seen.Printf, Check(h, Options{Steps: 500})
			if i < 80 && found.Decision != Legal {
				tell = seen.Rowf
			}
			err := Validate(h)
			if err == nil {
				tell("%d: %s", i, inWords(found))
				return
			}
			seen.Count("malformed")
			if tell("%d: %v", i, err); found.Decision != Undecided || found.Why != err.Error() {
				t.Errorf("%d: %v, but found is %s", i, err, inWords(found))
			}
			seen.Printf("%d %d", found.Event, found.Lock)
		})
	}
	f.Block("bounds", 4, func(i int, seen *pinned.Seen) {
		seen.Rowf("%v; %v", tooLong(endless+i), Validate(&history.History{Locks: []string{"jobs"}, Slots: []int{maxHistorySlots - 2 + i}}))
	})
	f.Compare("testdata/malformed.txt")
}

// distort changes a history in one random place, so that it is usually malformed.
func distort(choose drawn.Chooser, h *history.History) {
	number := []int{-1, 0, 1, 2, 3, 5, 40, 254, 255, 65534, 65535}[choose.Below(11)]
	few := choose.Below(6) // a larger number of slots would take more time
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
