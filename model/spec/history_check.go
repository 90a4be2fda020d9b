package spec

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// HistoryVerdict is what a history alone says of one property.
type HistoryVerdict struct {
	Property Property
	Decision Decision
	Checked  int    // how often the history put it to the test
	Event    int    // the event that breaks it; -1 for none
	Why      string // one line for people; empty for Legal
}

// CheckHistory judges a valid history by every property that a history alone can show broken:
//
//   - linearizable, as [CheckLinearizable] does;
//   - mutual-exclusion, by beliefs: a client believes from the acquire that was told yes until it calls
//     release, is told no by verify, dies, or its connection is gone. What overlaps after that is no
//     violation;
//   - stale-belief-ends: no verify that was called after the connection was gone says held;
//   - progress: nobody gives up an acquire, or finds administration busy, while nobody else is at it.
//
// What they leave unsaid takes the broker's truth; a history that passes is not a proof.
func CheckHistory(h *History, o LinearizableOptions) []HistoryVerdict {
	f := CheckLinearizable(h, o)
	w := witness{
		h: h, permits: o.Permits, processes: make(map[int32]*seen),
		believers: make(map[place][]int32), working: make(map[work]*crew),
	}
	for p := range w.verdicts {
		w.verdicts[p] = HistoryVerdict{Property: judgedByHistory[p], Decision: Legal, Event: -1}
	}
	for i := range h.Events {
		w.event(i, &h.Events[i])
	}
	linearizable := HistoryVerdict{Property: Linearizable, Decision: f.Decision, Checked: w.operations, Event: f.Event, Why: f.Why}
	return append([]HistoryVerdict{linearizable}, w.verdicts[:]...)
}

// judgedByHistory are the properties beside linearizability.
var judgedByHistory = [...]Property{MutualExclusion, StaleBeliefEnds, Progress}

// witness reads a history and notes who believes what.
type witness struct {
	h          *History
	permits    int
	processes  map[int32]*seen
	believers  map[place][]int32
	working    map[work]*crew
	operations int
	verdicts   [len(judgedByHistory)]HistoryVerdict
}

// place is a slot of a lock.
type place struct{ lock, slot uint16 }

// work is what operations do that can be in each other's way.
type work struct {
	lock           uint16
	administrative bool
}

// crew is who does that.
type crew struct {
	under int // operations under way, those that never return among them
	last  int // the event that invoked the last one
}

// seen is what is known of one process.
type seen struct {
	invoked   int  // the event that invoked its operation
	company   bool // somebody else was at the same already
	gone      bool // its connection ended
	since     bool // and had when the operation under way began
	believing bool
	at        place
}

// judge notes that a property was put to the test.
func (w *witness) judge(p Property, ok bool, event int, format string, args ...any) {
	for i := range w.verdicts {
		v := &w.verdicts[i]
		if v.Property != p {
			continue
		}
		v.Checked++
		if !ok && v.Decision == Legal {
			v.Decision, v.Event, v.Why = Illegal, event, fmt.Sprintf(format, args...)
		}
	}
}

func (w *witness) event(i int, e *Event) {
	switch {
	case e.Process == Nemesis:
		w.world(e)
	case e.Type == Invoke:
		w.invoked(i, e)
	default:
		w.completed(i, e)
	}
}

// process is what is known of a process.
func (w *witness) process(p int32) *seen {
	s := w.processes[p]
	if s == nil {
		s = new(seen)
		w.processes[p] = s
	}
	return s
}

// crew is who does the kind of work that an operation is, or nil if nobody can be in its way.
func (w *witness) crew(e *Event) *crew {
	op := e.F.Op()
	if op != lock.Acquire && !op.Administrative() {
		return nil
	}
	k := work{e.Lock, op.Administrative()}
	if w.working[k] == nil {
		w.working[k] = new(crew)
	}
	return w.working[k]
}

// world notes what happened to clients.
func (w *witness) world(e *Event) {
	switch e.F {
	case Restart:
		for p, s := range w.processes {
			s.gone = true
			w.doubt(p, s)
		}
	case Gone:
		s := w.process(e.Target)
		s.gone = true
		w.doubt(e.Target, s)
	case Crash:
		w.doubt(e.Target, w.process(e.Target))
	}
}

// doubt ends what a process believes, as far as others are concerned.
func (w *witness) doubt(p int32, s *seen) {
	if s.believing {
		s.believing = false
		w.believers[s.at] = slices.DeleteFunc(w.believers[s.at], func(q int32) bool { return q == p })
	}
}

func (w *witness) invoked(i int, e *Event) {
	w.operations++
	s := w.process(e.Process)
	s.invoked, s.since, s.company = i, s.gone, false
	if e.F.Op() == lock.Release {
		w.doubt(e.Process, s)
	}
	if c := w.crew(e); c != nil {
		s.company = c.under > 0
		c.under++
		c.last = i
	}
}

func (w *witness) completed(i int, e *Event) {
	s := w.process(e.Process)
	company := s.company
	if c := w.crew(e); c != nil {
		company = company || c.last > s.invoked
		if e.Type != Info {
			c.under--
		}
	}
	switch op := e.F.Op(); {
	case op == lock.Acquire && e.Type == OK && e.Held:
		w.exclude(i, e)
		s.believing, s.at = true, place{e.Lock, e.Slot}
		w.believers[s.at] = append(w.believers[s.at], e.Process)
	case op == lock.Acquire && e.Reason == lock.GaveUp:
		w.judge(Progress, company, i, "c%d's acquire gave up (event %d) though nobody else was acquiring", e.Process, i)
	case op == lock.Verify && e.Type == OK:
		if s.since {
			w.judge(StaleBeliefEnds, !e.Held, i, "c%d was told that it holds %s (event %d), but its connection was gone before it asked", e.Process, slotName(e.Slot), i)
		}
		if !e.Held {
			w.doubt(e.Process, s)
		}
	case e.Reason == lock.Busy:
		w.judge(Progress, company, i, "c%d found administration busy (event %d) though nobody else was administering", e.Process, i)
	}
}

// exclude looks for others who believe in what was just granted.
func (w *witness) exclude(i int, e *Event) {
	holders := w.believers[place{e.Lock, e.Slot}]
	limit, other := 0, int32(0)
	if e.Slot == AnySlot {
		limit = w.limit(e.Lock) - 1
	}
	if len(holders) > 0 {
		other = holders[0]
	}
	w.judge(MutualExclusion, len(holders) <= limit, i, "c%d was told that it holds %s (event %d), and c%d holds it", e.Process, slotName(e.Slot), i, other)
}

// limit is how many may hold a lock whose history names no slots.
func (w *witness) limit(l uint16) int {
	switch {
	case w.h.Kind != lock.Semaphore:
		return 1
	case w.permits > 0:
		return w.permits
	}
	return w.h.Slots[l]
}

func slotName(slot uint16) string {
	if slot == AnySlot {
		return "the lock"
	}
	return fmt.Sprintf("slot %d", slot)
}
