package search

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Reductions selects the reductions. A reduction leaves out executions that are equivalent to visited ones for all
// judged properties.
type Reductions struct {
	// Symmetry treats states as equal that differ only by a permutation of clients with the same workload. Clients that
	// share a connection have different channels, so they are never permuted.
	Symmetry bool
	// Order lets a client's command go before all other actions if it only reads queues that no other client can change
	// any more.
	Order bool
	// Local lets a client's command go before all other actions if it touches no queue. It does the same for random
	// choices.
	Local bool
}

// AllReductions selects every reduction.
var AllReductions = Reductions{Symmetry: true, Order: true, Local: true}

// For returns the requested reductions that the bounds permit. A fault between two commands of a connection depends on
// its moment, so Order and Local wait until no such fault is left. Custom properties can distinguish clients and
// states, so they permit no reduction.
func (r Reductions) For(b *sim.Bounds) Reductions {
	if b.Forever || !sim.NewSystem(*b).Independent() {
		r.Order, r.Local = false, false
	}
	if len(b.Own) > 0 {
		r = Reductions{}
	}
	return r
}

// slow turns off memo tables, Order and Local if must is true: the search has found that time matters although no
// option says so.
func (p *plan) slow(must bool) {
	if must {
		p.alone, p.red.Order, p.red.Local = false, false, false
	}
}

// duplicate reports whether client c has the same part and workload as an earlier client, so that its moves are
// equivalent.
func (w *worker) duplicate(t []uint32, c int) bool {
	for d := 1; d < c; d++ {
		if t[d] == t[c] && w.class[d] == w.class[c] {
			return true
		}
	}
	return false
}

// choosing returns a client whose random choice may go before all other actions; 0 if there is no such client.
func (w *worker) choosing(t []uint32) int {
	if !w.red.Local || !w.shared.At(t[0]).Undisturbed {
		return 0
	}
	for c := 1; c < w.stride; c++ {
		if w.foot(t, c).Choosing {
			return c
		}
	}
	return 0
}

// maxSettling bounds the number of consecutive ample steps. A client that continues forever is then noticed.
const maxSettling = 64

// ample executes commands that no other client can notice, until none is left, and reports whether there were any. t is
// the state before and after them. ample calls took with each action, unless took is nil.
func (w *worker) ample(t []uint32, took func(scenario.Action)) bool {
	if !w.red.Local && !w.red.Order {
		return false
	}
	for n := 0; n < maxSettling; n++ {
		c, m := w.unnoticed(t)
		if m == nil {
			return n > 0
		}
		if took != nil {
			a := m.action
			a.Client = uint8(c)
			took(a)
		}
		w.apply(t, t, c, m)
	}
	return true
}

// unnoticed returns a client and its next command, if no other client can notice the command or change its reply.
// Otherwise it returns nil. It also returns nil while a fault other than a crash may still happen, since such a fault's
// effect depends on how far the client is.
func (w *worker) unnoticed(t []uint32) (int, *move) {
	if !w.shared.At(t[0]).Undisturbed {
		return 0, nil
	}
	once, twice := w.written(t)
	for c := 1; c < w.stride; c++ {
		foot := w.foot(t, c)
		others := once&^foot.Writes | twice
		if !(w.red.Local && foot.Private) && !(w.red.Order && foot.Reads != 0 && foot.Reads&others == 0) {
			continue
		}
		m := &w.of(t, c)[0]
		if !m.visible && m.found == 0 && m.shared == t[0] && (m.client != t[c] || m.reaches) {
			return c, m
		}
	}
	return 0, nil
}

// written returns the roles of the queues that at least one client may still write (once), and of those that at least
// two may still write (twice).
func (w *worker) written(t []uint32) (once, twice backend.Roles) {
	for c := 1; c < w.stride; c++ {
		writes := w.foot(t, c).Writes
		twice |= once & writes
		once |= writes
	}
	return once, twice
}

// foot returns the footprint of client c in state t: the queues that its next command reads, and the queues that it may
// still write.
func (w *worker) foot(t []uint32, c int) *backend.Footprint {
	d := w.clients.At(t[c])
	if w.shared.At(t[0]).Calm {
		return &d.Foot[1]
	}
	return &d.Foot[0]
}
