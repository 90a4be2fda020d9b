package monitor

import "github.com/lockproof/lockproof/model/lock"

// A history of leases does not tell what the end of a connection frees ([history.History.GoneMayFree]). What it leaves
// open for that, no witness has to account for: see setMayExpire and looseEnds in model/linear.

// loosen is the end of a call of client c that was not answered, or of a verify or refresh that failed: from its beginning
// on the client may lose what the call was about, or had it granted. An acquire that was granted nothing may be yet.
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

// isLoose reports whether the history allows that the client loses a slot now.
func (w *watch) isLoose(l, s uint8) bool { return w.lock == l && w.loose&(1<<s) != 0 }

// asks reports whether a verify or refresh of a slot is under way.
func (w *watch) asks(s uint8) bool { return w.op.AsksHeld() && w.arg == s }

// vouches keeps the witness if a verify or refresh says of what has happened in its course what the history has to tell.
func (m *Monitor) vouches(c uint8, w *watch, r lock.Result) {
	switch {
	case r.Outcome == lock.Unknown:
	case r.Outcome == lock.Done && r.Held: // which takes it anew, where it could be lost
		w.loose &^= 1 << w.arg
		m.confirm(w.held&(1<<w.arg) != 0 && (!w.lost || !w.unsaid && m.locks[w.lock].truth.Owner[w.arg] == m.owner(c)))
	default:
		m.confirm(!w.unsaid)
	}
}

// collects reports whether a slot that its client has not just been granted by an acquire is what a history allows it to
// have: what an acquire without an answer still could be granted, or a refresh get anew, which can be lost at any moment;
// or what the client has again by a verify or refresh that says so.
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

// settles notes that a slot is not its last owner's any more.
func (m *Monitor) settles(was, s uint8) {
	if was &^= HalfOpen; was != 0 {
		m.clients[was-1].loose &^= 1 << s
	}
}
