package monitor

import "github.com/lockproof/lockproof/model/lock"

// monitor_loose.go mirrors what a history of leases leaves open: it does not say what the end of a connection frees
// ([history.History.GoneMayFree]). The witness need not account for such losses: see setMayExpire and looseEnds in
// model/linear.

// loosen handles a call of client c without a reply, or a verify or refresh that failed. From then on the client may
// lose the call's slot at any moment, or may have been granted it. An unanswered acquire may still be granted a slot.
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

// isLoose reports whether the history allows the client to lose the slot now.
func (w *watch) isLoose(l, s uint8) bool { return w.lock == l && w.loose&(1<<s) != 0 }

// asks reports whether a verify or refresh of a slot is under way.
func (w *watch) asks(s uint8) bool { return w.op.AsksHeld() && w.arg == s }

// vouches keeps the witness if the reply of a verify or refresh reports every change that the history must show.
func (m *Monitor) vouches(c uint8, w *watch, r lock.Result) {
	switch {
	case r.Outcome == lock.Unknown:
	case r.Outcome == lock.Done && r.Held: // the verify takes it anew, if it could be lost
		w.loose &^= 1 << w.arg
		m.confirm(w.held&(1<<w.arg) != 0 && (!w.lost || !w.unsaid && m.locks[w.lock].truth.Owner[w.arg] == m.owner(c)))
	default:
		m.confirm(!w.unsaid)
	}
}

// collects reports whether the history allows the client to gain a slot other than by an acquire under way. Three
// kinds of calls can gain one: an unanswered acquire, an unanswered verify or refresh, and a verify or refresh under
// way that reports it. Slots gained by an unanswered call can be lost at any moment.
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

// settles clears the loose mark of a slot's last owner, who has lost the slot.
func (m *Monitor) settles(was, s uint8) {
	if was &^= HalfOpen; was != 0 {
		m.clients[was-1].loose &^= 1 << s
	}
}
