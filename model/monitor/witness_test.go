package monitor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// TestWitnessIsTrue: in random executions, many of them wrong, the history is never illegal while the monitor says that
// it knows a linearization.
func TestWitnessIsTrue(t *testing.T) {
	runs := uint64(100_000)
	if testing.Short() {
		runs = 20_000
	}
	for _, traits := range []lock.Traits{0, lock.Leases} {
		kept, broken := 0, 0
		for seed := range runs {
			w := &witnessed{Rand: rand.New(rand.NewPCG(seed, uint64(traits))), traits: traits}
			w.seldom = 1 + 4*w.IntN(5)
			w.run()
			for strength, says := range map[property.FailedAcquire]bool{property.Weak: w.m.Witnessed, property.Strong: w.m.WitnessedStrong} {
				f := linear.Check(&w.h, linear.Options{FailedAcquire: strength})
				if f.Decision == linear.Illegal {
					broken++
				}
				if !says {
					continue
				}
				kept++
				if f.Decision == linear.Illegal {
					t.Fatalf("traits %b, seed %d, %v: the monitor says that it is a linearization, %s: %s\n%v", traits, seed, strength, f.How, f.Why, w.told())
				}
			}
		}
		t.Logf("traits %b: %d witnesses, %d illegal histories", traits, kept, broken)
		if kept < 2000 || broken < 2000 {
			t.Errorf("traits %b: too few witnesses (%d) or illegal histories (%d)", traits, kept, broken)
		}
	}
}

// TestWitnessOfWhatIsRight: in random executions of a correct lock, the monitor always knows a linearization.
func TestWitnessOfWhatIsRight(t *testing.T) {
	for _, traits := range []lock.Traits{0, lock.Leases} {
		for seed := range uint64(2000) {
			w := &witnessed{Rand: rand.New(rand.NewPCG(seed, uint64(traits))), traits: traits, right: true}
			if w.run(); !w.m.Witnessed {
				t.Fatalf("traits %b, seed %d: the monitor has no linearization\n%v", traits, seed, w.told())
			}
		}
	}
}

// witnessed is a random execution of a lock with two slots. It has both a monitor and a history.
type witnessed struct {
	*rand.Rand
	m       monitor.Monitor
	h       history.History
	truth   monitor.Truth
	traits  lock.Traits
	right   bool // the lock makes no mistakes
	seldom  int  // factor by which mistakes are less frequent
	now     int64
	clients [3]struct {
		op   lock.Op
		arg  uint8
		held uint8
		has  uint8 // slot that the commands of the call have acquired; 0 is none
		gave bool  // a command of the call has released the slot
	}
}

// errs reports whether the lock makes a mistake now: with probability 1/in, divided by seldom.
func (w *witnessed) errs(in int) bool { return !w.right && w.IntN(in*w.seldom) == 0 }

func (w *witnessed) run() {
	w.truth.Exists = 0b110
	w.h = history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{2}, GoneMayFree: w.traits.Has(lock.Leases)}
	w.m.Reset(lock.Semaphore, lock.Facts{}, len(w.clients), []monitor.Truth{w.truth})
	w.m.Has(w.traits)
	for range 6 + w.IntN(40) {
		c := uint8(1 + w.IntN(len(w.clients)))
		switch cl := &w.clients[c-1]; {
		case !w.right && w.IntN(12) == 0:
			w.late(c)
		case w.traits.Has(lock.Leases) && w.IntN(8) == 0 && !(w.right && w.acquiring()):
			w.pass(int64(1 + w.IntN(5)))
		case cl.op == lock.NoOp:
			w.begin(c)
		case w.IntN(2) == 0:
			w.command(c)
		default:
			w.end(c)
		}
	}
	for c := range w.clients {
		if w.clients[c].op != lock.NoOp {
			w.end(uint8(c + 1))
		}
	}
}

// acquiring reports whether a client has an acquire under way.
func (w *witnessed) acquiring() bool {
	for i := range w.clients {
		if w.clients[i].op == lock.Acquire {
			return true
		}
	}
	return false
}

// pass advances the time by ms milliseconds, and ends leases.
func (w *witnessed) pass(ms int64) {
	w.now += ms
	w.m.At(w.now)
	before := w.truth
	if w.truth.Lapse(w.now); w.truth == before {
		return
	}
	for s := 1; s <= 2; s++ {
		if before.Owner[s] != w.truth.Owner[s] {
			w.add(history.Occurrence(history.Lapse, int32(before.Owner[s])))
		}
	}
	w.m.SetTruth(0, 0, &w.truth)
}

func (w *witnessed) begin(c uint8) {
	cl := &w.clients[c-1]
	cl.op, cl.arg = lock.Acquire, 0
	if cl.held > 0 {
		cl.op, cl.arg = []lock.Op{lock.Verify, lock.Release, lock.Release}[w.IntN(3)], cl.held
		if w.traits.Has(lock.Leases) && w.IntN(3) == 0 {
			cl.op = lock.Refresh
		}
	}
	w.m.Begin(c, 0, cl.op, cl.arg, true)
	w.add(history.Invocation(int32(c), 0, cl.op, cl.arg, w.traits))
}

// command carries out one command of client c's operation, sometimes a wrong one.
func (w *witnessed) command(c uint8) {
	cl := &w.clients[c-1]
	s := uint8(1 + w.IntN(2))
	if cl.arg > 0 && (w.right || w.IntN(6) > 0) {
		s = cl.arg
	}
	until := int32(0)
	if w.traits.Has(lock.Leases) {
		until = int32(w.now) + 1 + int32(w.IntN(20))
	}
	free, own := w.truth.Owner[s] == 0, w.truth.Owner[s] == c
	takes := cl.op == lock.Acquire && !(w.right && cl.has > 0)
	switch {
	case (takes || w.errs(8)) && (free || w.errs(8)):
		w.truth.Taken, w.truth.Owner[s], w.truth.Until[s] = w.truth.Taken|1<<s, c, until
		cl.has = s
	case cl.op == lock.Refresh && own:
		w.truth.Until[s] = max(w.truth.Until[s], until)
	case (cl.op == lock.Release || w.errs(8)) && !free && (own || w.errs(8)):
		w.truth.Vacate(s)
		cl.gave = true
	}
	w.m.SetTruth(0, c, &w.truth)
}

// late carries out a command that client c has sent earlier.
func (w *witnessed) late(c uint8) {
	s := uint8(1 + w.IntN(2))
	switch {
	case w.truth.Owner[s] == c:
		w.truth.Vacate(s)
	case w.truth.Owner[s] == 0:
		w.truth.Taken, w.truth.Owner[s] = w.truth.Taken|1<<s, c
		if w.traits.Has(lock.Leases) {
			w.truth.Until[s] = int32(w.now) + 1 + int32(w.IntN(20))
		}
	}
	w.m.SetTruth(0, c*uint8(w.IntN(2)), &w.truth)
}

// end answers client c's operation, sometimes wrongly.
func (w *witnessed) end(c uint8) {
	cl := &w.clients[c-1]
	r := lock.Result{Outcome: lock.Done, Slot: cl.arg}
	own := cl.arg > 0 && w.truth.Owner[cl.arg] == c
	switch cl.op {
	case lock.Acquire:
		r.Slot = cl.has
		if r.Held = cl.has > 0 && w.truth.Owner[cl.has] == c; w.errs(8) {
			r.Held, r.Slot = !r.Held, uint8(1+w.IntN(2))
		}
		if !r.Held {
			r = lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}
			if w.truth.Taken == w.truth.Exists || w.errs(2) {
				r.Reason = lock.Full
			}
		}
	case lock.Verify, lock.Refresh:
		r.Held = own != w.errs(8)
	case lock.Release:
		if own && w.right { // no command has released the slot yet
			w.truth.Vacate(cl.arg)
			w.m.SetTruth(0, c, &w.truth)
			cl.gave = true
		}
		if !cl.gave && w.right || !w.right && (own != w.errs(8) || w.errs(4)) {
			r.Outcome, r.Reason = lock.Failed, lock.NotHeld
		}
	}
	if !w.right && w.IntN(6) == 0 {
		r = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut, Slot: cl.arg}
	}
	cl.held, cl.has, cl.gave = 0, 0, false
	if r.Held {
		cl.held = r.Slot
	}
	w.add(history.Completion(int32(c), 0, cl.op, r))
	w.m.End(c, r, cl.held, true)
	cl.op = lock.NoOp
}

func (w *witnessed) add(e history.Event) {
	e.Time = w.now
	w.h.Events = append(w.h.Events, e)
}

// told are the events of the history, one in each line.
func (w *witnessed) told() (all string) {
	for _, e := range w.h.Events {
		all += fmt.Sprintf("%v %v %s slot %d held %v %v\n", e.Type, e.F, w.h.Who(e.Process), e.Slot, e.Held, e.Reason)
	}
	return all
}
