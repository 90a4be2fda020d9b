package search

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// situation is what a client's moves depend on: what is shared, its own part, what may be seen of those who
// hold something, and what may be seen of one of those who hold nothing.
type situation struct {
	shared, own uint32
	rest        uint32 // the views of the holders but itself, numbered
	beside      uint64 // the view of another client, plus 1; 0 is that nobody is there
}

// anyMove is one action in one situation, and what it leads to.
type anyMove struct {
	action  scenario.Action
	shared  uint32
	own     uint32
	left    abandoned
	effect  uint32
	found   spec.PropertySet
	doubted bool
}

// abandoned are the parts of half-open connections that a move leaves, each plus 1; 0 is none.
type abandoned [2]uint32

// anyWorker works out what happens in contexts.
type anyWorker struct {
	*anySearch
	systems map[string]*sim.System // by the classes of their clients
	memo    map[situation][]anyMove
	rests   map[string]uint32
	aspects map[uint64]*aspect // by what is shared, and what may be seen of holders
	cover   Coverage
	dirty   []*anyContext
	then    []uint32
	key     []byte
	buf     []byte
	load    [][]byte
}

func newAnyWorker(s *anySearch) *anyWorker {
	return &anyWorker{
		anySearch: s, systems: make(map[string]*sim.System), memo: make(map[situation][]anyMove), rests: make(map[string]uint32),
		aspects: make(map[uint64]*aspect), key: make([]byte, 0, 64),
	}
}

// begin adds the initial context and who may stand beside it.
func (w *anyWorker) begin() {
	classes := make([]byte, w.fixed)
	for i := range classes {
		classes[i] = byte(i)
	}
	var initial []uint32
	for k := w.fixed; k < len(w.bounds.Clients); k++ { // the first view is that of who has not begun
		sys := w.system(append(slices.Clone(classes), byte(k)))
		sys.Reset()
		initial = append(initial, w.part(sys, w.fixed+1, byte(k)))
	}
	sys := w.system(classes)
	sys.Reset()
	var holders []uint32
	for i := range w.fixed {
		holders = append(holders, w.part(sys, i+1, byte(i)))
	}
	c := w.contexts.intern(nil, w.sharedPart(sys), holders)
	var set bitset
	for _, p := range initial {
		set.add(p)
	}
	w.arrive(c, set)
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
	return w.shared.intern(w.buf, func() part { return part{doubt: !sys.Witnessed(), slots: uint8(bits.OnesCount16(sys.Slots()))} })
}

// part is the number of a client's part.
func (w *anyWorker) part(sys *sim.System, n int, class byte) uint32 {
	w.buf = sys.Client(n, append(w.buf[:0], class))
	return w.clients.intern(w.buf, func() part {
		return part{view: w.views.number(sys.View(n, nil)), holds: int(class) < w.fixed || sys.Holds(n), busy: sys.Busy(n)}
	})
}

func (w *anyWorker) class(id uint32) byte { return w.clients.image(id)[0] }

// rest numbers what may be seen of holders.
func (w *anyWorker) rest(holders []uint32) uint32 {
	var views [scenario.MaxClients]uint64
	n := 0
	for _, h := range holders {
		views[n] = w.clients.get(h).view
		n++
	}
	slices.Sort(views[:n])
	key := w.buf[:0]
	for _, v := range views[:n] {
		key = binary.AppendUvarint(key, v)
	}
	w.buf = key
	id, ok := w.rests[string(key)]
	if !ok {
		id = uint32(len(w.rests))
		w.rests[string(key)] = id
	}
	return id
}

// moves are what a client can do beside these holders, and beside another client if beside is not 0: a part,
// plus 1.
func (w *anyWorker) moves(shared, own uint32, holders []uint32, beside uint32) []anyMove {
	sit := situation{shared: shared, own: own, rest: w.rest(holders)}
	if beside > 0 {
		sit.beside = w.clients.get(beside-1).view + 1
	}
	m, ok := w.memo[sit]
	if !ok {
		m = w.workOut(shared, own, holders, beside)
		w.memo[sit] = m
	}
	return m
}

// among lists the parts of a world: the client that acts, the holders beside it, and another, plus 1.
func among(own uint32, holders []uint32, beside uint32) []uint32 {
	all := append(append(make([]uint32, 0, len(holders)+2), own), holders...)
	if beside > 0 {
		all = append(all, beside-1)
	}
	return all
}

func (w *anyWorker) workOut(shared, own uint32, holders []uint32, beside uint32) (out []anyMove) {
	all := among(own, holders, beside)
	if len(all) >= scenario.MaxClients {
		w.stop.CompareAndSwap(0, uint32(AtHolders))
		return nil
	}
	acts := w.enter(shared, all).Actions(1, nil)
	for _, a := range acts {
		if m := w.take(shared, all, a); !w.beyond(m.shared) {
			out = append(out, m)
		}
	}
	return out
}

// take carries out an action of the first of some clients, and notes what it does to the others.
func (w *anyWorker) take(shared uint32, all []uint32, a scenario.Action) anyMove {
	sys := w.enter(shared, all)
	out := sys.Take(a)
	w.cover.note(a, &out)
	m := anyMove{action: a, shared: w.sharedPart(sys), found: out.Found, effect: w.effects.number(out.Effect)}
	m.doubted = out.Completed && w.anySearch.shared.get(m.shared).doubt
	left := sys.Abandoned(1)
	influence := w.effects.at(m.effect)
	for i, id := range all {
		now := w.part(sys, i+1, w.class(id))
		if i == 0 {
			m.own = now
			continue
		}
		if was, is := w.clients.get(id), w.clients.get(now); was.holds != is.holds {
			w.fail(fmt.Errorf("%v changes what another client holds", a))
		}
		if !influence.set(id, now) {
			w.fail(fmt.Errorf("what %v does to another client depends on more than is to be seen of it", a))
		}
	}
	for i, image := range left { // one of the connection at hand, and one of what it was granted on
		m.left[i] = w.dead(m.shared, image) + 1
	}
	return m
}

// beyond reports whether there are more slots than are looked at.
func (w *anyWorker) beyond(shared uint32) bool {
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

// fail ends the search for an assumption of it that does not hold.
func (w *anyWorker) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.res.Err == nil {
		w.res.Err = err
	}
	w.stop.CompareAndSwap(0, uint32(Unsound))
}

// after is what an action makes of another client's part.
func (w *anyWorker) after(how *takenIn, part uint32) uint32 {
	m := &how.move
	does := w.effects.at(m.effect)
	if to, ok := does.get(part); ok {
		return to
	}
	all := how.all
	if !slices.Contains(all[1:], part) {
		all = append(slices.Clone(all), part)
	}
	if len(all) > scenario.MaxClients {
		w.stop.CompareAndSwap(0, uint32(AtHolders))
		return part
	}
	n := w.take(how.shared, all, m.action)
	to, ok := w.effects.at(n.effect).get(part)
	if n.own != m.own || n.shared != m.shared || n.left != m.left || !ok {
		if to, ok := does.get(part); ok { // it depends on the other, beside whom it is worked out by itself
			return to
		}
		w.fail(fmt.Errorf("%v comes to something else beside a client of whom nothing may be seen", m.action))
		return part
	}
	does.set(part, to) // effects may be told apart by what no property asks for that is judged
	return to
}
