package foreign

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A lease frees a lock that its holder cannot release. If all clients are alive and have released everything, no client
// should have to wait for a lease to end. But a client may have left a key without knowing it: the reply to its acquire
// was lost, or some of several servers refused the key. Such a key keeps the lock taken until its lease ends. In the
// audit a fresh client therefore acquires a lock that nobody holds once before leases end. Most locks do not promise
// that this succeeds.

// soon is the minimum time in virtual milliseconds that clients get to clean up by themselves.
const soon = 1000

// freesAtOnce checks that lock l, which no client holds any more, is granted to a fresh client before any lease ends.
func (r *run) freesAtOnce(l uint8) error {
	if !r.judgesFreed() || !r.givenBack(l) {
		return nil
	}
	if err := r.elapse(soon); err != nil || !r.leaseLasts(l) {
		return err
	}
	p, err := r.auditor(0)
	if err != nil {
		return err
	}
	behind := r.before(l)
	res, err := r.asks(p, l, lock.Acquire)
	switch {
	case err != nil || p.dead:
		return err
	case res.Held:
		r.exercised = r.exercised.With(property.FreesAtOnce)
		return r.releases(l)
	case res.Outcome == lock.Failed:
		r.exercised = r.exercised.With(property.FreesAtOnce)
		r.accuse(property.FreesAtOnce, p.id, l, fmt.Sprintf("after %s, nobody holds lock %s any more, but %s, a fresh client, is refused it until a lease ends",
			behind, r.sc.Locks[l].Name, ClientName(int(p.id))))
	}
	return nil
}

// judgesFreed reports whether freesAtOnce judges locks: they are mutexes with leases, no client has crashed or paused,
// and the broker was not restarted.
func (r *run) judgesFreed() bool {
	return r.about.Leases && r.config.Kind == lock.Mutex && !r.befell.crashed && !r.befell.paused && !r.befell.restarted &&
		!slices.ContainsFunc(r.clients, func(p clientState) bool { return p.dead })
}

// givenBack reports whether every client that was granted lock l has released it.
func (r *run) givenBack(l uint8) bool {
	return !slices.ContainsFunc(r.clients, func(p clientState) bool { return p.owes && r.lockOf(p.id) == l })
}

// leaseLasts reports whether a lease on lock l that a client asked for may still be running.
func (r *run) leaseLasts(l uint8) bool {
	for i := range r.clients {
		if p := &r.clients[i]; r.lockOf(p.id) == l && max(p.lease.ends, p.lease.next) > r.now {
			return true
		}
	}
	return false
}

// before describes the gravest event that has happened to lock l, for example "a refused acquire of c1". A fault is the
// gravest.
func (r *run) before(l uint8) (what string) {
	if r.befell.lost != "" {
		return r.befell.lost
	}
	for _, e := range r.record.Events {
		if e.Process == history.Nemesis || e.Lock != uint16(l) || e.Type == history.Invoke {
			continue
		}
		switch who := ClientName(int(e.Process)); {
		case e.F.Op() == lock.Acquire && e.Type == history.Info:
			return "an acquire of " + who + " without a known end"
		case e.F.Op() == lock.Acquire && e.Type == history.Fail:
			what = "a refused acquire of " + who
		case e.F.Op() == lock.Release && what == "":
			what = "a release by " + who
		}
	}
	return what
}

// loses describes what client c loses by a fault, for example "a lost reply to c1"; "" if it loses nothing.
func loses(do scenario.ActionKind, c uint8) string {
	switch do {
	case scenario.Lose:
		return "a lost reply to " + ClientName(int(c))
	case scenario.Stall:
		return "a late reply to " + ClientName(int(c))
	case scenario.Drop, scenario.ChannelError:
		return "a lost connection of " + ClientName(int(c))
	default:
		return ""
	}
}
