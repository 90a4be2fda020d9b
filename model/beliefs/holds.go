package beliefs

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Hold is a certain hold: a client was told that it holds a slot, and has learnt nothing to the contrary.
type Hold struct {
	Process  int32
	Lock     uint16
	Slot     uint16
	From, To int64 // times in the history
	End      End
	// Moment is the index of the event that ended it; -1 for none.
	Moment int
}

// End is the way in which a certain hold ended.
type End uint8

// The ways in which holds end.
const (
	Standing End = iota // it had not ended when the history did
	Released            // its client called release
	Denied              // a verify did not say yes; the hold ended at the call of the verify
	Ended               // its client was told of the end of its session or lease
	Died                // its client died
	Told                // its client reported that it had lost it
)

var endNames = [...]string{"standing", "released", "denied by verify", "told that its session ended", "died", "told of as lost"}

// String is the end in words.
func (e End) String() string { return endNames[e] }

// Holds are the certain holds of a history whose locks have numbered slots, ordered by their beginning.
func Holds(h *history.History) []Hold {
	f := finder{at: make(map[int32]int), asked: make(map[int32]asking), calls: make(map[int32]bool)}
	for i := range h.Events {
		e := &h.Events[i]
		f.now = max(f.now, e.Time)
		switch {
		case e.Process == history.Nemesis:
			f.world(i, e)
		case e.Type == history.Invoke:
			f.invoked(i, e)
		default:
			f.completed(e)
		}
	}
	for p, a := range f.asked { // the answers to these are unknown
		f.end(p, a.time, Denied, a.event)
	}
	for i := range f.holds {
		if f.holds[i].End == Standing {
			f.holds[i].To = f.now
		}
	}
	slices.SortStableFunc(f.holds, func(a, b Hold) int { return cmp.Compare(a.From, b.From) })
	return f.holds
}

// asking is a verify under way.
type asking struct {
	time  int64
	event int
}

// finder reads a history to find its holds.
type finder struct {
	now   int64
	holds []Hold
	at    map[int32]int // by process: the index of its hold
	asked map[int32]asking
	calls map[int32]bool // acquires under way; true if a session has ended during the call
}

func (f *finder) world(i int, e *history.Event) {
	switch e.F {
	case history.Gone, history.Lapse:
		f.void(e.Target)
		f.end(e.Target, e.Time, Ended, i)
	case history.Crash:
		f.end(e.Target, e.Time, Died, i)
	case history.Lost:
		f.end(e.Target, e.Time, Told, i)
	case history.Restart:
		for p := range f.at {
			f.end(p, e.Time, Ended, i)
		}
	}
}

// void makes the grants that a process is asking for uncertain.
func (f *finder) void(process int32) {
	if _, acquiring := f.calls[process]; acquiring {
		f.calls[process] = true
	}
}

func (f *finder) invoked(i int, e *history.Event) {
	switch e.F.Op() {
	case lock.Acquire:
		f.calls[e.Process] = false
	case lock.Release:
		f.end(e.Process, e.Time, Released, i)
	case lock.Verify, lock.Refresh:
		if _, holds := f.at[e.Process]; holds {
			f.asked[e.Process] = asking{time: e.Time, event: i}
		}
	}
}

func (f *finder) completed(e *history.Event) {
	yes := e.Type == history.OK && e.Held
	switch op := e.F.Op(); {
	case op == lock.Acquire:
		void := f.calls[e.Process]
		delete(f.calls, e.Process)
		if yes && !void {
			f.at[e.Process] = len(f.holds)
			f.holds = append(f.holds, Hold{Process: e.Process, Lock: e.Lock, Slot: e.Slot, From: e.Time, Moment: -1})
		}
	case op.AsksHeld():
		a, asked := f.asked[e.Process]
		delete(f.asked, e.Process)
		if asked && !yes {
			f.end(e.Process, a.time, Denied, a.event)
		}
	}
}

// end ends a process's hold, if it has one.
func (f *finder) end(process int32, time int64, how End, event int) {
	i, holds := f.at[process]
	if !holds {
		return
	}
	delete(f.at, process)
	delete(f.asked, process)
	f.holds[i].To, f.holds[i].End, f.holds[i].Moment = time, how, event
}

// Overlap is a time in which two clients held one slot for certain.
type Overlap struct {
	First, Second Hold // First was granted the slot first
	From, To      int64
}

// Standing reports whether both holds lasted until the end of the history.
func (o *Overlap) Standing() bool { return o.First.End == Standing && o.Second.End == Standing }

// Overlaps are the overlaps in a history, ordered by their beginning.
func Overlaps(h *history.History) (all []Overlap) {
	holds := Holds(h)
	for i, a := range holds {
		for _, b := range holds[i+1:] {
			if from, to := b.From, min(a.To, b.To); a.Lock == b.Lock && a.Slot == b.Slot && a.Slot != history.AnySlot && from < to {
				all = append(all, Overlap{First: a, Second: b, From: from, To: to})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Overlap) int { return cmp.Compare(a.From, b.From) })
	return all
}
