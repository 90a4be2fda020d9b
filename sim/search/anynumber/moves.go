package anynumber

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/states"
)

// move is one action of a client or of the broker, and its result. The state in which it happens has other clients,
// too.
type move struct {
	action      scenario.Action
	shared      uint32       // the shared part of the state after the action
	own         uint32       // the acting client's part after the action, plus 1; 0 if the broker acts
	left        abandoned    // half-open connections that the action leaves
	effect      uint32       // the number of the action's effect on the other clients
	found       property.Set // properties that the action violates
	unwitnessed bool         // the action completed an operation while the monitor had no linearization
}

// same reports whether two moves are the same action with the same result for the acting client and for all others.
func (m *move) same(o *move) bool {
	return m.action == o.action && m.own == o.own && m.shared == o.shared && m.left == o.left && m.effect == o.effect
}

// abandoned has the parts of the half-open connections that a move leaves, each plus 1; 0 means that there is none.
// There are at most two: the current connection, and an earlier one over which the client's slot was granted.
type abandoned [2]uint32

// takenIn is a move and the state before it. The action can thus be repeated in a state that has more clients.
type takenIn struct {
	shared uint32   // the shared part before the action
	all    []uint32 // the clients' parts before the action; if a client acts, its part is the first
	move   move
}

// first returns the index in takenIn.all of the first client that does not act: 1 if a client acts, 0 if the broker
// acts.
func (m *move) first() int { return min(1, int(m.own)) }

// worker computes the steps that are possible in contexts.
type worker struct {
	*exploration
	systems map[string]*sim.System // simulated systems, by the classes of their clients
	cover   search.Coverage
	dirty   []*viewContext // contexts that this worker has made pending for the next round
	err     error          // an assumption of the search that was found not to hold, or nil
	crowded bool           // a state had more clients than the simulated system has room for
	beyond  bool           // a move that makes more slots than the bound was left out
	now     []arrival      // what this round adds to each step of the context being processed, by the step's index
	key     []byte
	buf     []byte
	load    [][]byte
}

func newWorker(s *exploration) *worker {
	return &worker{exploration: s, systems: make(map[string]*sim.System), key: make([]byte, 0, 64)}
}

// begin adds the initial context, and the parts that clients have in it.
func (w *worker) begin() {
	classes := make([]byte, w.fixed)
	for i := range classes {
		classes[i] = byte(i)
	}
	var initial states.Set
	for k := w.fixed; k < len(w.bounds.Clients); k++ { // first, so that a client that has not begun has view 0
		sys := w.system(append(slices.Clone(classes), byte(k)))
		sys.Reset()
		initial.Add(w.part(sys, w.fixed+1, byte(k)))
	}
	sys := w.system(classes)
	sys.Reset()
	var holders []uint32
	for i := range w.fixed {
		p := w.part(sys, i+1, byte(i))
		initial.Add(p)
		holders = append(holders, w.clients.At(p).Role)
	}
	w.arrive(w.contexts.intern(nil, w.sharedPart(sys), holders), initial)
}

// system returns a simulated system whose clients have these classes, that is, kinds of workload.
func (w *worker) system(classes []byte) *sim.System {
	if sys, ok := w.systems[string(classes)]; ok {
		return sys
	}
	b := w.bounds
	b.Clients = make([]scenario.Client, len(classes))
	for i, k := range classes {
		b.Clients[i] = w.bounds.Clients[k]
	}
	sys := sim.NewSystem(b)
	w.systems[string(classes)] = sys
	return sys
}

// enter returns a simulated system in the state with this shared part and these clients' parts.
func (w *worker) enter(shared uint32, clients []uint32) *sim.System {
	w.buf, w.load = w.buf[:0], w.load[:0]
	for _, id := range clients {
		image := w.clients.Bytes(id)
		w.buf, w.load = append(w.buf, image[0]), append(w.load, image[1:])
	}
	sys := w.system(w.buf)
	sys.Load(w.shared.Bytes(shared), w.load)
	return sys
}

func (w *worker) sharedPart(sys *sim.System) uint32 {
	w.buf = sys.Shared(w.buf[:0])
	return w.shared.Number(w.buf, func() states.Part {
		return states.Part{Unwitnessed: !sys.Witnessed(), Slots: uint8(bits.OnesCount16(sys.Slots()))}
	})
}

// part returns the number of the part of client n in the system. class is the client's class.
func (w *worker) part(sys *sim.System, n int, class byte) uint32 {
	w.buf = sys.Client(n, append(w.buf[:0], class))
	return w.clients.Number(w.buf, func() states.Part {
		d := states.Part{View: w.views.Number(w.viewOf(sys, n)), Holds: int(class) < w.fixed || sys.Holds(n), Busy: sys.Busy(n)}
		if d.Holds {
			r := role{class: class, view: d.View}
			if w.whole || w.named && int(class) == w.fixed-1 {
				r.part = string(w.buf)
			}
			d.Role = w.roles.number(r)
		}
		return d
	})
}

func (w *worker) class(id uint32) byte { return w.clients.Image(id)[0] }

// among lists the parts of the clients in a state: first that of the acting client (own minus 1; own is 0 if the broker
// acts), then those of the other holders, then that of one more client (beside minus 1; 0 if there is none).
func among(own uint32, holders []uint32, beside uint32) []uint32 {
	all := make([]uint32, 0, len(holders)+2)
	if own > 0 {
		all = append(all, own-1)
	}
	all = append(all, holders...)
	if beside > 0 {
		all = append(all, beside-1)
	}
	return all
}

// moves returns the moves that a client or the broker can make in a state with these clients; for own, holders and
// beside see among. The simulated system must have room for one more client, which observes the effects.
func (w *worker) moves(shared, own uint32, holders []uint32, beside uint32) (out []move) {
	all := among(own, holders, beside)
	if len(all) >= lock.MaxClients {
		w.crowded = true
		return nil
	}
	sys := w.enter(shared, all)
	for i, a := range sys.Actions(min(1, int(own)), nil) {
		if i > 0 {
			sys = w.enter(shared, all)
		}
		if m := w.take(sys, all, a); w.tooManySlots(m.shared) {
			w.beyond = true
		} else {
			out = append(out, m)
		}
	}
	return out
}

// take executes action a of the first client in all, or of the broker, and records the effect on the other clients. sys
// is the simulation in the state with the parts of all.
func (w *worker) take(sys *sim.System, all []uint32, a scenario.Action) move {
	out := sys.Take(a)
	w.cover.Note(a, &out)
	if out.Timed {
		w.fail(fmt.Errorf("after %v time makes a difference", a))
	}
	m := move{action: a, shared: w.sharedPart(sys), found: out.Found, effect: w.effects.number(w.effectOf(out.Effect))}
	m.unwitnessed = out.Completed && w.bounds.Properties.Has(property.Linearizable) && w.exploration.shared.At(m.shared).Unwitnessed
	var left [][]byte
	if a.Client > 0 {
		left = sys.Abandoned(1)
		m.own = w.part(sys, 1, w.class(all[0])) + 1
	}
	does := w.effects.at(m.effect)
	for i := m.first(); i < len(all); i++ {
		w.affected(a, does, all[i], w.became(sys, i+1, all[i], does))
	}
	for i, image := range left {
		m.left[i] = w.dead(m.shared, image) + 1
	}
	return m
}

// became returns the number of the part that client n of sys has after an action. does is the action's effect, and part
// the number of the client's part before.
func (w *worker) became(sys *sim.System, n int, part uint32, does *influence) uint32 {
	class := w.class(part)
	if to, ok := does.get(part); ok { // in most cases the result is the known one, which is cheap to compare
		if w.buf = sys.Client(n, append(w.buf[:0], class)); string(w.buf) == w.clients.Image(to) {
			return to
		}
	}
	return w.part(sys, n, class)
}

// affected records that an action changed another client's part to now. It checks that the action's effect (does)
// always changes this part, and the client's role, in the same way.
func (w *worker) affected(a scenario.Action, does *influence, part, now uint32) {
	was, is := w.clients.At(part), w.clients.At(now)
	switch {
	case was.Holds != is.Holds && a.Kind != scenario.Restart:
		w.fail(fmt.Errorf("%v changes what another client holds", a))
	case !does.set(part, now):
		w.fail(fmt.Errorf("what %v does to another client depends on more than is to be seen of it", a))
	case was.Holds && !does.assign(was.Role, known(is)):
		w.fail(fmt.Errorf("what others see of a client after %v depends on more than they saw of it before", a))
	}
}

// known returns the role of a client with part p, plus 1. It returns 0 if the client holds nothing, so that contexts do
// not list it.
func known(p *states.Part) uint32 {
	if p.Holds {
		return p.Role + 1
	}
	return 0
}

// tooManySlots reports whether the shared part of a state has more slots than the bound.
func (w *worker) tooManySlots(shared uint32) bool {
	return int(w.exploration.shared.At(shared).Slots) > w.slots
}

// dead returns the number of the part of a dead client whose connection is half-open. Dead clients of all classes are
// equal, so the part gets the first class with any number of clients.
func (w *worker) dead(shared uint32, image []byte) uint32 {
	class := byte(w.fixed)
	sys := w.system([]byte{class})
	sys.Load(w.exploration.shared.Bytes(shared), [][]byte{image})
	return w.part(sys, 1, class)
}

// fail records err, which names an assumption of the search that does not hold. It keeps the first in alphabetical
// order.
func (w *worker) fail(err error) { w.err = firstError(w.err, err) }

// firstError returns the error that is first in alphabetical order; either may be nil. The choice thus does not depend
// on the number of workers.
func firstError(a, b error) error {
	if a == nil || b != nil && b.Error() < a.Error() {
		return b
	}
	return a
}

// after returns the part of another client after the action of the move how. The argument part is that client's part
// before the action.
func (w *worker) after(how *takenIn, part uint32) uint32 {
	if to, ok := w.effects.at(how.move.effect).get(part); ok {
		return to
	}
	return w.watched(how, part)
}

// watched is like after, but repeats the action in a state with the other client. The move must be the same as without
// it.
func (w *worker) watched(how *takenIn, part uint32) uint32 {
	m := &how.move
	all := w.with(how, part)
	n := w.take(w.enter(how.shared, all), all, m.action)
	to, ok := w.effects.at(m.effect).get(part)
	if !n.same(m) || !ok {
		w.fail(fmt.Errorf("%v comes to something else beside a client that looks alike, or of whom nothing may be seen", m.action))
		return part
	}
	return to
}

// with returns the parts of all clients before an action, including the given part. If the part is a holder's, it
// replaces the part that represents the holder's role. Otherwise it is added.
func (w *worker) with(how *takenIn, part uint32) []uint32 {
	all := slices.Clone(how.all)
	others := all[how.move.first():]
	if slices.Contains(others, part) {
		return all
	}
	if d := w.clients.At(part); d.Holds {
		if i := slices.IndexFunc(others, func(o uint32) bool { return w.clients.At(o).Role == d.Role && w.clients.At(o).Holds }); i >= 0 {
			others[i] = part
			return all
		}
	}
	return append(all, part)
}
