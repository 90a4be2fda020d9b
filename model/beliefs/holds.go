package beliefs

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Hold is a certain hold: a client's acquire succeeded, and the client has learnt of no loss.
type Hold struct {
	Process  int32
	Lock     uint16
	Slot     uint16
	From, To int64 // times in the history, in nanoseconds
	End      End
	// Moment is the index of the event that ended the hold; -1 if none did.
	Moment int
}

// End is the way in which a certain hold ended.
type End uint8

// The ways in which a certain hold ends.
const (
	Standing End = iota // the hold lasted until the history ended
	Released            // the client called release
	Denied              // a verify did not say that the lock is held: the hold ended when the verify was called
	Ended               // the client learnt that its session or lease had ended
	Died                // the client died
	Told                // the client reported that it had lost the lock
)

var endNames = [...]string{"standing", "released", "denied by verify", "told that its session ended", "died", "told of as lost"}

// String is the end in words.
func (e End) String() string { return endNames[e] }

// Holds are the certain holds in a history, ordered by their beginnings. Slots must be numbered.
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
	for p, a := range f.asked { // verifies without an answer: the hold ended when the verify was called
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

// asking is a verify under way, with the time and index of its invocation.
type asking struct {
	time  int64
	event int
}

// finder reads a history event by event and collects the certain holds.
type finder struct {
	now   int64
	holds []Hold
	at    map[int32]int // by process: the index in holds of its present hold
	asked map[int32]asking
	calls map[int32]bool // by process with an acquire under way: whether its session has ended during the acquire
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

// void makes the result of a process's acquire uncertain, since its session ended during the call.
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

// end ends a process's hold, if it has one. how is the way in which the hold ends, and event the index of the event
// that ends it.
func (f *finder) end(process int32, time int64, how End, event int) {
	i, holds := f.at[process]
	if !holds {
		return
	}
	delete(f.at, process)
	delete(f.asked, process)
	f.holds[i].To, f.holds[i].End, f.holds[i].Moment = time, how, event
}

// Overlap is a period of time in which two clients certainly held the same slot.
type Overlap struct {
	First, Second Hold // First was granted the slot first
	From, To      int64
}

// Standing reports whether both holds lasted until the end of the history.
func (o *Overlap) Standing() bool { return o.First.End == Standing && o.Second.End == Standing }

// Overlaps are the overlaps of holds in a history, ordered by their beginnings.
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
