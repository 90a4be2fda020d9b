package search

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// anyMove is one action of somebody among others, and what it leads to.
type anyMove struct {
	action      scenario.Action
	shared      uint32
	own         uint32 // plus 1; 0 is the broker
	left        abandoned
	effect      uint32
	found       property.Set
	unwitnessed bool
}

// same reports whether both are one action with one effect, on the client that takes it and on all others.
func (m *anyMove) same(o *anyMove) bool {
	return m.action == o.action && m.own == o.own && m.shared == o.shared && m.left == o.left && m.effect == o.effect
}

// abandoned are the parts of half-open connections that a move leaves, each plus 1; 0 is none. There are at most two: of
// the connection at hand, and of what was granted on an earlier one.
type abandoned [2]uint32

// takenIn is an action in a world, so that it can be carried out again beside others.
type takenIn struct {
	shared uint32
	all    []uint32 // the parts of the world: that of who acts, if it is a client's doing, then others
	move   anyMove
}

// first is the index of the first part that is not that of who acts.
func (m *anyMove) first() int { return min(1, int(m.own)) }

// anyWorker works out what happens in contexts.
type anyWorker struct {
	*anySearch
	systems map[string]*sim.System // by the classes of their clients
	cover   Coverage
	dirty   []*anyContext
	err     error     // which assumption of the search does not hold
	crowded bool      // there were more clients at once than a world has room for
	now     []arrival // by step, while a context is looked at
	key     []byte
	buf     []byte
	load    [][]byte
}

func newAnyWorker(s *anySearch) *anyWorker {
	return &anyWorker{anySearch: s, systems: make(map[string]*sim.System), key: make([]byte, 0, 64)}
}

// begin adds the initial context and the parts that clients have in it.
func (w *anyWorker) begin() {
	classes := make([]byte, w.fixed)
	for i := range classes {
		classes[i] = byte(i)
	}
	var initial bitset
	for k := w.fixed; k < len(w.bounds.Clients); k++ { // the first view is that of who has not begun
		sys := w.system(append(slices.Clone(classes), byte(k)))
		sys.Reset()
		initial.add(w.part(sys, w.fixed+1, byte(k)))
	}
	sys := w.system(classes)
	sys.Reset()
	var holders []uint32
	for i := range w.fixed {
		p := w.part(sys, i+1, byte(i))
		initial.add(p)
		holders = append(holders, w.clients.get(p).role)
	}
	w.arrive(w.contexts.intern(nil, w.sharedPart(sys), holders), initial)
}

// system is a world of clients of these classes.
func (w *anyWorker) system(classes []byte) *sim.System {
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

// enter is a world in which the clients have these parts.
func (w *anyWorker) enter(shared uint32, clients []uint32) *sim.System {
	w.buf, w.load = w.buf[:0], w.load[:0]
	for _, id := range clients {
		image := w.clients.bytesOf(id)
		w.buf, w.load = append(w.buf, image[0]), append(w.load, image[1:])
	}
	sys := w.system(w.buf)
	sys.Load(w.shared.bytesOf(shared), w.load)
	return sys
}

func (w *anyWorker) sharedPart(sys *sim.System) uint32 {
	w.buf = sys.Shared(w.buf[:0])
	return w.shared.intern(w.buf, func() part { return part{unwitnessed: !sys.Witnessed(), slots: uint8(bits.OnesCount16(sys.Slots()))} })
}

// part is the number of a client's part.
func (w *anyWorker) part(sys *sim.System, n int, class byte) uint32 {
	w.buf = sys.Client(n, append(w.buf[:0], class))
	return w.clients.intern(w.buf, func() part {
		d := part{view: w.views.number(w.viewOf(sys, n)), holds: int(class) < w.fixed || sys.Holds(n), busy: sys.Busy(n)}
		if d.holds {
			r := role{class: class, view: d.view}
			if w.whole || w.named && int(class) == w.fixed-1 {
				r.part = string(w.buf)
			}
			d.role = w.roles.number(r)
		}
		return d
	})
}

func (w *anyWorker) class(id uint32) byte { return w.clients.image(id)[0] }

// among lists the parts of a world: the client that acts, plus 1, the holders beside it, and another, plus 1.
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

// moves are the moves of a client (a part plus 1) or of the broker (0), beside these holders and, if beside is not 0,
// beside another client (a part plus 1). The world has room for one more client, which watches.
func (w *anyWorker) moves(shared, own uint32, holders []uint32, beside uint32) (out []anyMove) {
	all := among(own, holders, beside)
	if len(all) >= lock.MaxClients {
		w.crowded = true
		return nil
	}
	for _, a := range w.enter(shared, all).Actions(min(1, int(own)), nil) {
		if m := w.take(shared, all, a); !w.tooManySlots(m.shared) {
			out = append(out, m)
		}
	}
	return out
}

// take carries out an action of the first of some clients, or of the broker, and notes what it does to the others.
func (w *anyWorker) take(shared uint32, all []uint32, a scenario.Action) anyMove {
	sys := w.enter(shared, all)
	out := sys.Take(a)
	w.cover.note(a, &out)
	if out.Timed {
		w.fail(fmt.Errorf("after %v time makes a difference", a))
	}
	m := anyMove{action: a, shared: w.sharedPart(sys), found: out.Found, effect: w.effects.number(w.effectOf(out.Effect))}
	m.unwitnessed = out.Completed && w.bounds.Properties.Has(property.Linearizable) && w.anySearch.shared.get(m.shared).unwitnessed
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

// became is the number of the part that a client has after an action.
func (w *anyWorker) became(sys *sim.System, n int, part uint32, does *influence) uint32 {
	class := w.class(part)
	if to, ok := does.get(part); ok { // most often it is that
		if w.buf = sys.Client(n, append(w.buf[:0], class)); string(w.buf) == w.clients.image(to) {
			return to
		}
	}
	return w.part(sys, n, class)
}

// affected notes what an action has made of another client's part, and sees that this is what its effect always does,
// to the client and to what others know of it.
func (w *anyWorker) affected(a scenario.Action, does *influence, part, now uint32) {
	was, is := w.clients.get(part), w.clients.get(now)
	switch {
	case was.holds != is.holds && a.Kind != scenario.Restart:
		w.fail(fmt.Errorf("%v changes what another client holds", a))
	case !does.set(part, now):
		w.fail(fmt.Errorf("what %v does to another client depends on more than is to be seen of it", a))
	case was.holds && !does.assign(was.role, known(is)):
		w.fail(fmt.Errorf("what others see of a client after %v depends on more than they saw of it before", a))
	}
}

// known is what contexts know of a client: a role, plus 1, or 0 for one that holds nothing.
func known(p *part) uint32 {
	if p.holds {
		return p.role + 1
	}
	return 0
}

// tooManySlots reports whether there are more slots than the search looks at.
func (w *anyWorker) tooManySlots(shared uint32) bool {
	return int(w.anySearch.shared.get(shared).slots) > w.slots
}

// dead is the part of a client that has died and left something: of the first kind of which there is any number,
// since the dead are alike.
func (w *anyWorker) dead(shared uint32, image []byte) uint32 {
	class := byte(w.fixed)
	sys := w.system([]byte{class})
	sys.Load(w.anySearch.shared.bytesOf(shared), [][]byte{image})
	return w.part(sys, 1, class)
}

// fail notes an assumption of the search that does not hold.
func (w *anyWorker) fail(err error) { w.err = firstError(w.err, err) }

// firstError is the error to report of two, either of which may be nil: the first in the order of their words,
// so that it is the same however many workers there are.
func firstError(a, b error) error {
	if a == nil || b != nil && b.Error() < a.Error() {
		return b
	}
	return a
}

// after is what an action makes of another client's part.
func (w *anyWorker) after(how *takenIn, part uint32) uint32 {
	if to, ok := w.effects.at(how.move.effect).get(part); ok {
		return to
	}
	return w.watched(how, part)
}

// watched is the same, found by carrying out the action beside the client. Its effect on the others must not change.
func (w *anyWorker) watched(how *takenIn, part uint32) uint32 {
	m := &how.move
	n := w.take(how.shared, w.with(how, part), m.action)
	to, ok := w.effects.at(m.effect).get(part)
	if !n.same(m) || !ok {
		w.fail(fmt.Errorf("%v comes to something else beside a client that looks alike, or of whom nothing may be seen", m.action))
		return part
	}
	return to
}

// with is the world of an action with another part in it: of a holder that is there, instead of the one that stands
// for it; or of one more client.
func (w *anyWorker) with(how *takenIn, part uint32) []uint32 {
	all := slices.Clone(how.all)
	others := all[how.move.first():]
	if slices.Contains(others, part) {
		return all
	}
	if d := w.clients.get(part); d.holds {
		if i := slices.IndexFunc(others, func(o uint32) bool { return w.clients.get(o).role == d.role && w.clients.get(o).holds }); i >= 0 {
			others[i] = part
			return all
		}
	}
	return append(all, part)
}
