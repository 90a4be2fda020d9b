package draw

import (
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Decision is the number, from 1, of the step that made a violation unavoidable. For example, a client claimed a slot
// in this step and later wrongly believed that it held it. It is 0 if the step is not known, or if the violation shows
// in the same step.
func Decision(t *scenario.Trace, v scenario.Violation) int {
	d, known := deciderOf(t, v)
	if !known {
		return 0
	}
	if at := d.decided(); at >= 0 && at < v.Step {
		return at + 1
	}
	return 0
}

// decider finds the step that made one violation unavoidable. Steps count from 0; -1 means that the step is unknown.
type decider struct {
	*scenario.Trace
	v     scenario.Violation
	shows int
}

// deciderOf makes a decider. known is false if the server's state is not recorded, or not for this lock or this slot.
func deciderOf(t *scenario.Trace, v scenario.Violation) (d decider, known bool) {
	d = decider{Trace: t, v: v, shows: min(v.Step, len(t.Steps)-1)}
	return d, d.shows >= 0 && len(t.Setup) > 0 && v.Slot <= monitor.Slots && int(v.Lock) < len(t.Scenario.Locks)
}

func (d *decider) decided() int {
	c := d.client()
	switch d.v.Property {
	case property.MutualExclusion, property.NoFalseHold:
		return d.beliefs()
	case property.Linearizable:
		return d.answer(c)
	case property.HonestVerify, property.StaleBeliefEnds: // connection lost, and the client verified on a new one
		return d.last(d.invoked(c, lock.Verify), d.shows, c, func(s *scenario.TraceStep) bool { return s.Exchange.Result == backend.Ended })
	case property.ContiguousSlots:
		return d.misplaced()
	case property.NoPhantomSlot:
		return d.unlooked(c)
	case property.NoLeak:
		return d.littered()
	case property.CrashFrees, property.RemovalDrains:
		return d.became(d.taken)
	case property.SurvivesRestart:
		if d.truth(d.shows).Taken == 0 {
			return -1
		}
		return d.became(func(before, after *monitor.Truth) bool { return after.Taken&^before.Taken != 0 })
	case property.AdminExclusion:
		return d.administered()
	case property.EffectiveRelease:
		return d.invoked(c, lock.Release)
	case property.Progress:
		if refused(&d.Steps[d.shows]) { // the client went on after this refusal
			return d.again(c)
		}
	case property.CheapAcquire, property.CheapVerify:
		return d.spent(c)
	}
	return -1
}

// client is the number of the client of the violation. If the violation names none, it is the client whose call ends in
// the step that shows it.
func (d *decider) client() int {
	if d.v.Client > 0 {
		return int(d.v.Client)
	}
	s := &d.Steps[d.shows]
	for _, e := range d.History.Events[s.First : s.First+s.Events] {
		if e.Type != history.Invoke && e.Process > 0 {
			return clientOf(e, d.Clients())
		}
	}
	return int(s.Action.Client)
}

// truth is the broker's state of the violated lock after a step.
func (d *decider) truth(step int) *monitor.Truth { return &d.Steps[step].Truth[d.v.Lock] }

// invoked is the step at which a client began its last operation of a kind; NoOp means any kind. It is -1 if there is
// none.
func (d *decider) invoked(c int, op lock.Op) int {
	for i := d.shows; i >= 0; i-- {
		s := &d.Steps[i]
		for _, e := range d.History.Events[s.First : s.First+s.Events] {
			if e.Type == history.Invoke && clientOf(e, d.Clients()) == c && (op == lock.NoOp || e.F.Op() == op) {
				return i
			}
		}
	}
	return -1
}

// last is a client's last step in a range of steps that satisfies a condition; -1 if there is none.
func (d *decider) last(from, to, c int, is func(*scenario.TraceStep) bool) int {
	for i := to; from >= 0 && i >= from; i-- {
		if s := &d.Steps[i]; int(s.Action.Client) == c && is(s) {
			return i
		}
	}
	return -1
}

// claims reports whether a step declares a queue. refused reports whether a step declares a queue and the broker
// refused it.
func claims(s *scenario.TraceStep) bool {
	return s.Exchange.Access == backend.Create
}

func refused(s *scenario.TraceStep) bool {
	return claims(s) && (s.Exchange.Result == backend.Refused || s.Exchange.Result == backend.Denied)
}

// became is the last step at which the broker's state of the lock changed in the way that differs describes.
func (d *decider) became(differs func(before, after *monitor.Truth) bool) int {
	for i := d.shows; i > 0; i-- {
		if differs(d.truth(i-1), d.truth(i)) {
			return i
		}
	}
	return -1
}

// misplaced is the step that made the set of slots wrong. If slots vanished without being deleted, it is the step that
// declared their queues.
func (d *decider) misplaced() int {
	at := d.became(func(before, after *monitor.Truth) bool { return before.Exists != after.Exists })
	if at <= 0 || d.Steps[at].Exchange.Method != 0 {
		return at
	}
	vanished := d.truth(at-1).Exists &^ d.truth(at).Exists
	for i := at - 1; i > 0; i-- {
		if (d.truth(i).Exists&^d.truth(i-1).Exists)&vanished != 0 {
			return i
		}
	}
	return at
}

// unlooked is the step at which an acquire began that asked only about the queue that it claimed. Such an acquire
// cannot know whether the slot exists. The step is -1 for other acquires.
func (d *decider) unlooked(c int) int {
	began := d.invoked(c, lock.Acquire)
	claim := d.last(began, d.shows, c, claims)
	if claim < 0 {
		return -1
	}
	other := func(s *scenario.TraceStep) bool {
		return s.Exchange.Key != 0 && s.Exchange.Key != d.Steps[claim].Exchange.Key
	}
	if d.last(began, d.shows, c, other) >= 0 {
		return -1
	}
	return began
}

// littered is the step that sent the first message that stayed in a queue. If no message stayed, it is a step at which
// the broker refused a client its own queue, so that the client left the queue behind.
func (d *decider) littered() int {
	if !strings.Contains(d.v.Detail, "messages") {
		c := d.client()
		return d.last(d.invoked(c, lock.NoOp), d.shows, c, func(s *scenario.TraceStep) bool {
			return refused(s) && int(s.Truth[d.v.Lock].Owner[d.v.Slot]) == c
		})
	}
	return slices.IndexFunc(d.Steps, func(s scenario.TraceStep) bool {
		return s.Exchange.Access == backend.Read && s.Reply == "ack"
	})
}

// again is the step at which a client went on after a refused declaration, although it had no attempt left; -1 if there
// is none.
func (d *decider) again(c int) int {
	last := d.last(d.invoked(c, lock.NoOp), d.shows-1, c, refused)
	if last < 0 {
		return -1
	}
	for i := last + 1; i < d.shows; i++ {
		if s := &d.Steps[i]; int(s.Action.Client) == c && s.Exchange.Key != 0 {
			return i
		}
	}
	return -1
}

// taken reports whether a client took the slot of the violation between two states of the broker.
func (d *decider) taken(before, after *monitor.Truth) bool {
	return (after.Taken&^before.Taken)>>d.v.Slot&1 == 1
}

// beliefs is the step after which one of two clients was wrong to believe that it holds the slot. It lost the slot in
// this step without knowing, or the step was its claim, which did not give it the slot.
func (d *decider) beliefs() int {
	if d.Scenario.Facts().SharedSession { // the broker does not know which client holds a slot
		return d.answer(int(d.Steps[d.shows].Action.Client))
	}
	for _, c := range []int{d.client(), int(d.v.Other)} {
		acquired := d.invoked(c, lock.Acquire)
		owner := func(i int) bool { return int(d.truth(i).Owner[d.v.Slot]) == c }
		if acquired < 0 || owner(d.shows) {
			continue
		}
		for i := d.shows; i > acquired; i-- {
			if owner(i-1) && !owner(i) {
				return i
			}
		}
		if at := d.last(acquired, d.shows, c, claims); at >= 0 {
			return at
		}
	}
	return -1
}

// answer is the step that led to a client's wrong answer; -1 if there is none. For an acquire, it is the claim of the
// slot. For a verify, it is the last command that deletes nothing: a verify deletes only to give its slot up.
func (d *decider) answer(c int) int {
	s := &d.Steps[d.shows]
	for _, e := range d.History.Events[s.First : s.First+s.Events] {
		switch from := d.invoked(c, lock.NoOp); {
		case e.Type == history.Invoke || clientOf(e, d.Clients()) != c:
		case e.F.Op() == lock.Acquire && e.Held:
			return d.last(from, d.shows, c, claims)
		case e.F.Op() == lock.Verify:
			return d.last(from, d.shows, c, func(s *scenario.TraceStep) bool { return s.Exchange.Access != backend.Delete })
		}
	}
	return -1
}

// administered is the step that let two clients administer at once: one of them gave up the administration mutex too
// early, or went on after an answer that was no longer true.
func (d *decider) administered() int {
	for i := d.shows; i > 0; i-- {
		owner := int(d.truth(i - 1).Admin)
		if s := &d.Steps[i]; owner > 0 && owner != int(d.truth(i).Admin) && int(s.Action.Client) == owner && s.Events == 0 {
			return i
		}
	}
	if at := d.claimedTwice(); at >= 0 {
		return at
	}
	between := d.shows - 1
	for between >= 0 && !d.administers(between) {
		between--
	}
	if between < 0 || int(d.Steps[between].Action.Client) == d.client() {
		return -1
	}
	other := int(d.Steps[between].Action.Client)
	if at := d.last(0, between-1, other, anything); at >= 0 && d.Steps[between].Events == 0 {
		return at
	}
	return between
}

// claimedTwice is the last step that gave the administration mutex to a client while another client still had it; -1 if
// there is none.
func (d *decider) claimedTwice() int {
	holders, at := make(map[uint8]bool), -1
	for i := range d.shows + 1 {
		s := &d.Steps[i]
		if s.Exchange.Role != backend.AdminMutex || s.Exchange.Lock != d.v.Lock || !s.Exchange.Known || s.Exchange.Result != backend.Done {
			continue
		}
		c := s.Action.Client
		switch {
		case s.Exchange.Access == backend.Delete:
			delete(holders, c)
		case claims(s):
			if holders[c] = true; len(holders) > 1 {
				at = i
			}
		}
	}
	if len(holders) < 2 {
		return -1
	}
	return at
}

// administers reports whether a step belongs to an administrative operation: create, add, remove or destroy.
func (d *decider) administers(i int) bool {
	c := int(d.Steps[i].Action.Client)
	for ; i >= 0 && c > 0; i-- {
		for _, e := range d.events(i, c) {
			if e.Type == history.Invoke {
				return slices.Contains([]lock.Op{lock.Create, lock.Add, lock.Remove, lock.Destroy}, e.F.Op())
			}
		}
	}
	return false
}

func anything(*scenario.TraceStep) bool { return true }

// spent is the step in which an operation exceeded its budget, if a single command did; -1 otherwise.
func (d *decider) spent(c int) int {
	from := d.invoked(c, lock.NoOp)
	for _, waste := range []struct {
		detail string
		is     func(*scenario.TraceStep) bool
	}{
		{"reconnected", func(s *scenario.TraceStep) bool { return s.Exchange.Access == backend.OpenSession }},
		{"broke a channel", func(s *scenario.TraceStep) bool { return s.Exchange.Aborted }},
		{"opened", func(s *scenario.TraceStep) bool { return s.Exchange.Access == backend.OpenUnit }},
	} {
		if strings.Contains(d.v.Detail, waste.detail) {
			return d.last(from, d.shows, c, waste.is)
		}
	}
	return -1
}
