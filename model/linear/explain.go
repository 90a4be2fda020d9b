package linear

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// failed is the finding if the answer of call k, the current event, leaves no possible state of the lock.
func (w *frontier) failed(k int32) Finding {
	c := w.r.call(k)
	if w.incomplete {
		return tooMany
	}
	return Finding{Decision: Illegal, Event: int(w.now), Slot: int(c.slot), How: byFastCheck, Why: w.why(c)}
}

// why explains in one line why an answer is wrong. It uses the last state that contradicted the answer.
func (w *frontier) why(c *operation) string {
	who, st, slot, kind := w.r.who(c), w.dead, w.r.h.SlotName(c.slot), w.r.h.Kind
	switch c.effect {
	case takes:
		if c.op.AsksHeld() {
			return who + " was told that it holds " + w.whyNot(st, c)
		}
		return who + " was granted " + w.whyNot(st, c)
	case findsFull:
		return who + " was told that the lock is " + property.ForKind(kind, "full ", "taken ") + w.when(c) + w.whyNotFull(st, c)
	case findsHeld:
		return fmt.Sprintf("%s was told that it holds %s %s%s", who, slot, w.when(c), w.whyNotHeld(st, c))
	case leaves:
		return fmt.Sprintf("%s was told that %s is %s %s, but it existed all the while", who, slot, property.ForKind(kind, "removed", "gone"), w.when(c))
	case findsCount:
		return fmt.Sprintf("%s counted %s %s, but there were %d", who, property.ForKind(kind, property.Counted(int(c.n), "slot"), fmt.Sprint(c.n)), w.when(c), st.slots)
	case findsFree:
		return fmt.Sprintf("%s was told that nobody has %s %s, but %s had it all the while",
			who, slot, w.when(c), w.holder(st, int32(c.slot)))
	case claims:
		return fmt.Sprintf("%s withdrew from %s %s, but at no moment was it free and then gone", who, slot, w.when(c))
	case adds, creates, removes, destroys:
		return fmt.Sprintf("%s's %s cannot have happened as a whole %s", who, w.r.operation(c), w.when(c))
	}
	if c.op == lock.Release {
		return fmt.Sprintf("%s gave %s back %s, which it did not have", who, slot, w.when(c))
	}
	return fmt.Sprintf("%s's %s is about %s %s, which it did not have", who, w.r.operation(c), slot, w.when(c))
}

// whyNot says why a slot cannot have been granted: it did not exist, or another client had it.
func (w *frontier) whyNot(st *state, c *operation) string {
	slot := int32(c.slot)
	what := fmt.Sprintf("%s %s", w.r.h.SlotName(c.slot), w.when(c))
	switch h := st.cells[slot].holder; {
	case !st.existed(slot, c.inv):
		return what + ", but it did not exist at any moment of the call"
	case h != none && w.r.call(h).effect == takes:
		by := w.r.call(h)
		moment := w.r.h.Moment(int(by.ret))
		if by.client == c.client && !by.op.AsksHeld() {
			return fmt.Sprintf("%s, but it had it already: it was granted at %s and not given back", what, moment)
		}
		if by.op.AsksHeld() {
			return fmt.Sprintf("%s, but %s had it: its %s said so at %s, and it was not given back", what, w.holder(st, slot), by.op, moment)
		}
		return fmt.Sprintf("%s, but %s had it: it was granted at %s and not given back", what, w.holder(st, slot), moment)
	}
	return what + ", but it was there and free at no moment of the call"
}

// whyNotFull says why a lock cannot have been full: which slot must have been free. If there are unanswered acquires
// and several free slots, it says that the acquires cannot have taken all of them.
func (w *frontier) whyNotFull(st *state, c *operation) string {
	var free []string
	for s := int32(1); s <= st.slots; s++ {
		if st.covers(s, c.inv) {
			free = append(free, fmt.Sprint(s))
		}
	}
	if last := len(free) - 1; last > 0 && w.pending.some {
		return fmt.Sprintf(", but unanswered acquires cannot have had each of slots %s and %s, which nobody else had", strings.Join(free[:last], ", "), free[last])
	}
	if len(free) > 0 {
		return fmt.Sprintf(", but %s was free all the while%s", property.ForKind(w.r.h.Kind, "slot "+free[0], "it"), w.withoutPending())
	}
	return property.ForKind(w.r.h.Kind, ", but at no moment of the call every slot was taken", ", but at no moment of the call was it")
}

// withoutPending adds that no unanswered acquire can have had the slot; "" if there are no unanswered acquires.
func (w *frontier) withoutPending() string {
	if w.pending.some {
		return ", and no unanswered acquire can have had it"
	}
	return ""
}

func (w *frontier) whyNotHeld(st *state, c *operation) string {
	switch {
	case w.r.call(c.link).traits.has(lost):
		return ", but its connection had ended before"
	case !st.existed(int32(c.slot), c.inv):
		return ", but it did not exist at any moment of the call"
	}
	return ", but it had lost it"
}

// holder names the client that holds a slot in a state.
func (w *frontier) holder(st *state, slot int32) string {
	if h := st.cells[slot].holder; h != none {
		return w.r.who(w.r.call(h))
	}
	return "somebody"
}

// when says between which events a call was under way, for example "(events 3 to 5)".
func (w *frontier) when(c *operation) string {
	return "(" + w.r.h.Moments(int(c.inv), int(c.ret)) + ")"
}

// who names the client of a call.
func (r *normaliser) who(c *operation) string {
	return r.h.Who(r.clients.list[c.client].process)
}

// operation names the operation of a call, such as "acquire".
func (r *normaliser) operation(c *operation) string { return c.op.String() }
