package search

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Reductions leave out executions that differ from others in nothing that is judged.
type Reductions struct {
	// Symmetry takes states for one in which clients of one workload have changed places. Those that share
	// a connection have a channel each, and never are alike.
	Symmetry bool
	// Order has a client that only looks at what nobody can change any more go on before anybody else.
	Order bool
	// Local has a client go on at once with commands that touch no queue, and choose at once.
	Local bool
}

// AllReductions is every reduction.
var AllReductions = Reductions{Symmetry: true, Order: true, Local: true}

// For are the reductions that bounds permit, of those that are asked for. A fault in the middle of a connection can tell
// apart what is otherwise alike, as it depends on when it happens: Order and Local begin where no such fault is left.
// Users' own properties tell clients apart, and whatever state is left out.
func (r Reductions) For(b *sim.Bounds) Reductions {
	if b.Forever || !sim.NewSystem(*b).Independent() {
		r.Order, r.Local = false, false
	}
	if len(b.Own) > 0 {
		r = Reductions{}
	}
	return r
}

// slow has a plan look nothing up, if it must: where time turns out to matter though no option says so.
func (p *plan) slow(must bool) {
	if must {
		p.alone, p.red.Order, p.red.Local = false, false, false
	}
}

// duplicate reports whether a client's moves come to the same as those of one before it.
func (w *worker) duplicate(t []uint32, c int) bool {
	for d := 1; d < c; d++ {
		if t[d] == t[c] && w.class[d] == w.class[c] {
			return true
		}
	}
	return false
}

// choosing is a client that chooses next, where that may go before everything else, or 0.
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

// maxSettling bounds how many steps are taken at once: who goes on for ever by itself must be seen to.
const maxSettling = 64

// ample has clients go on with what concerns nobody else, and reports whether there was any.
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

// unnoticed is a client's next command that nobody else can notice or change the answer to. As long as something may
// befall its client between two commands, other than its crash, there is none: then it matters what it has done before.
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

// written are the queues that somebody may write from now on, and those that two may.
func (w *worker) written(t []uint32) (once, twice backend.Roles) {
	for c := 1; c < w.stride; c++ {
		writes := w.foot(t, c).Writes
		twice |= once & writes
		once |= writes
	}
	return once, twice
}

// foot is what a client touches in a state.
func (w *worker) foot(t []uint32, c int) *backend.Footprint {
	d := w.clients.At(t[c])
	if w.shared.At(t[0]).Calm {
		return &d.Foot[1]
	}
	return &d.Foot[0]
}
