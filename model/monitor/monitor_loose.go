package monitor

import "github.com/lockproof/lockproof/model/lock"

// This file handles what a history with leases does not show: whether the end of a connection frees its slots
// ([history.History.GoneMayFree]). The monitor's linearization need not explain changes that such a history allows at
// any moment: see setMayExpire and looseEnds in model/linear.

// loosen handles the end of client c's call, if the call has no answer (unanswered) or is a verify or refresh that
// failed. From then on, the history allows the client to lose the call's slot at any moment. An unanswered acquire may
// still be granted a slot later.
func (m *Monitor) loosen(c uint8, w *watch, unanswered bool) {
	if !m.traits.Has(lock.Leases) {
		return
	}
	switch w.op {
	case lock.Acquire:
		w.loose |= w.granted & m.locks[w.lock].truth.owned(c)
		w.owed = w.owed || w.granted == 0
	case lock.Release, lock.Verify, lock.Refresh:
		w.loose |= 1 << w.arg & m.locks[w.lock].truth.owned(c)
		if unanswered && w.op.AsksHeld() {
			w.again |= 1 << w.arg
		}
	}
}

// isLoose reports whether the history allows the client to lose slot s of lock l at any moment.
func (w *watch) isLoose(l, s uint8) bool { return w.lock == l && w.loose&(1<<s) != 0 }

// asks reports whether the client has a verify or refresh of slot s under way.
func (w *watch) asks(s uint8) bool { return w.op.AsksHeld() && w.arg == s }

// vouches handles the answer to a verify or refresh. If the hold has changed in a way that the history would have to
// show, and the answer does not report this, the monitor no longer knows a linearization.
func (m *Monitor) vouches(c uint8, w *watch, r lock.Result) {
	switch {
	case r.Outcome == lock.Unknown:
	case r.Outcome == lock.Done && r.Held: // the client certainly holds the slot again
		w.loose &^= 1 << w.arg
		m.confirm(w.held&(1<<w.arg) != 0 && (!w.lost || !w.unsaid && m.locks[w.lock].truth.Owner[w.arg] == m.owner(c)))
	default:
		m.confirm(!w.unsaid)
	}
}

// collects reports whether the history allows the client to get slot s without an acquire under way. An unanswered
// acquire may get it, as may an unanswered verify or refresh; the client may then lose the slot at any moment. A verify
// or refresh under way may get it too, if its answer reports this.
func (w *watch) collects(l, s uint8) bool {
	switch {
	case w.lock != l || w.op == lock.Acquire:
		return false
	case w.asks(s):
		w.unsaid = true
		return true
	case w.again&(1<<s) != 0:
		w.again &^= 1 << s
	case w.owed:
		w.owed = false
	default:
		return false
	}
	w.loose |= 1 << s
	return true
}

// settles records that client number was, the last owner of slot s, has now lost the slot. The history then no longer
// allows this client to lose it later.
func (m *Monitor) settles(was, s uint8) {
	if was &^= HalfOpen; was != 0 {
		m.clients[was-1].loose &^= 1 << s
	}
}
