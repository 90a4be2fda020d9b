package search

import (
	"slices"
	"sync/atomic"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

// move is one action in one situation, and what it leads to.
type move struct {
	action      scenario.Action // the caller sets Client
	shared      uint32          // the parts that follow
	client      uint32
	effect      uint32 // its effect on the other clients, if it reaches them
	found       property.Set
	op          lock.Op
	visible     bool   // to others
	unwitnessed bool   // its operation is over, in an execution that is not its own witness
	delta       uint64 // change of the fingerprint's sum, if the other clients stay unchanged
	reaches     bool   // it may change the monitor's state of other clients
}

// worker visits states. Its memo tables are its own; workers share the parts.
type worker struct {
	*plan
	sys     *sim.System
	table   memo                // what an action depends on -> its moves
	lists   []span              // of moves, by memo value
	known   map[uint64][]uint32 // the lists of one shared part and one client's
	moves   []move              // by id
	effects map[sim.Effect]uint32
	other   other // an effect's result for another client's part
	done    memo  // the input of a final state's judgement -> its violations, as an index of finals
	finals  []property.Set
	buf     []byte // scratch
	kept    bool   // the system has kept a state aside
	load    [][]byte
	acts    []scenario.Action
	cover   Coverage
	moved   [8]uint32
	visible visibleStates // where nothing is hashed
	carried links         // links of client parts, and idle steps, without the memo table
	idle    idleSteps
	recent  *recent      // nil where states with one fingerprint are not taken for one
	bytes   atomic.Int64 // that all this takes
}

type span struct{ from, to uint32 }

// plan is what the workers of a search have in common.
type plan struct {
	bounds     sim.Bounds
	red        Reductions
	stride     int // of a state: the shared part and one for each client
	class      []byte
	shared     *states.Table
	clients    *states.Table
	alone      bool          // moves depend on views only
	memoryless bool          // an action changes other clients' parts only by their queues
	global     bool          // things happen that are no client's doing
	views      *states.Views // nil where views are hashed
	timed      atomic.Bool   // time matters after all, so that moves depend on more than views
}

func newPlan(b sim.Bounds, red Reductions) *plan {
	sys := sim.NewSystem(b)
	p := &plan{
		bounds: b, red: red, stride: len(b.Clients) + 1, shared: states.NewTable(), clients: states.NewTable(),
		alone: sys.Independent(), memoryless: sys.Memoryless(), global: b.Faults.Restarts != 0,
	}
	p.class = make([]byte, p.stride)
	for i := range b.Clients {
		p.class[i+1] = byte(i)
		for k := range i {
			if p.red.Symmetry && sameWorkload(&b.Clients[k], &b.Clients[i]) {
				p.class[i+1] = p.class[k+1]
				break
			}
		}
	}
	return p
}

func sameWorkload(a, b *scenario.Client) bool {
	return a.Lock == b.Lock && slices.Equal(a.Ops, b.Ops)
}

func (p *plan) worker() *worker {
	w := &worker{
		plan: p, sys: sim.NewSystem(p.bounds), load: make([][]byte, p.stride-1),
		known: make(map[uint64][]uint32), effects: make(map[sim.Effect]uint32), visible: make(visibleStates), carried: make(links),
	}
	if p.views == nil {
		w.recent = new(recent)
	}
	return w
}

// initial is the initial state.
func (w *worker) initial() []uint32 {
	w.sys.Reset()
	t := make([]uint32, w.stride)
	w.read(t)
	return t
}

// enter makes the world that of a state.
func (w *worker) enter(t []uint32) {
	for c := 1; c < w.stride; c++ {
		w.load[c-1] = w.clients.Bytes(t[c])[1:]
	}
	w.sys.Load(w.shared.Bytes(t[0]), w.load)
}

// keep keeps the world's state aside if several actions are to be carried out from it.
func (w *worker) keep(actions int) { w.kept = actions > 1 && w.sys.Keep() }

// enterAgain makes the world that of the state that it was in when keep was called.
func (w *worker) enterAgain(t []uint32) {
	if !w.kept {
		w.enter(t)
		return
	}
	w.sys.Return()
}

// read is the state that the world is in.
func (w *worker) read(t []uint32) {
	t[0] = w.sharedPart()
	for c := 1; c < w.stride; c++ {
		t[c] = w.clientPart(c)
	}
}

// readAfter is read after a step from another state, whose parts are compared first: most stay as they are.
func (w *worker) readAfter(to, from []uint32) {
	if w.writeShared(); string(w.buf) != w.shared.Image(from[0]) {
		to[0] = w.numberShared()
	}
	for c := 1; c < w.stride; c++ {
		if w.writeClient(c); string(w.buf) != w.clients.Image(from[c]) {
			to[c] = w.numberClient(c)
		}
	}
}

func (w *worker) sharedPart() uint32 {
	w.writeShared()
	return w.numberShared()
}

func (w *worker) clientPart(c int) uint32 {
	w.writeClient(c)
	return w.numberClient(c)
}

// writeShared and writeClient write a part of the world's state. numberShared and numberClient number what was written
// last.
func (w *worker) writeShared()      { w.buf = w.sys.Shared(w.buf[:0]) }
func (w *worker) writeClient(c int) { w.buf = w.sys.Client(c, append(w.buf[:0], w.class[c])) }

func (w *worker) numberShared() uint32 {
	return w.shared.Number(w.buf, func() states.Part {
		return states.Part{Unwitnessed: !w.sys.Witnessed(), Calm: w.sys.Calm(), Undisturbed: w.sys.Undisturbed()}
	})
}

func (w *worker) numberClient(c int) uint32 {
	return w.clients.Number(w.buf, func() states.Part {
		return states.Part{View: w.view(c), Busy: w.sys.Busy(c), Dead: w.sys.Dead(c), Foot: [...]backend.Footprint{w.sys.Footprint(c, false), w.sys.Footprint(c, true)}}
	})
}

// fingerprint is the sum of the parts'. States that differ in the places of clients of one workload
// have the same.
func (w *worker) fingerprint(t []uint32) uint64 { return finish(w.sum(t)) }

func (w *worker) sum(t []uint32) uint64 {
	sum := states.Mix(w.shared.At(t[0]).Hash)
	for _, id := range t[1:] {
		sum += w.clients.At(id).Hash
	}
	return sum
}

func finish(sum uint64) uint64 { return states.Mix(sum) | 1 }

// fingerprintBits is how many bits of a fingerprint tell states apart.
const fingerprintBits = 63

// rest is the third input of a client's moves, next to its own part and the shared one: the other clients' views.
func (w *worker) rest(t []uint32, c int) uint64 {
	if w.views != nil {
		return w.exactRest(t, c)
	}
	sum := uint64(0)
	for d := 1; d < w.stride; d++ {
		if d != c {
			sum += w.clients.At(t[d]).View
		}
	}
	return sum
}

// of are the moves of a client in a state.
func (w *worker) of(t []uint32, c int) []move {
	l := w.lookUp(t, c)
	return w.moves[l.from:l.to]
}

// lookUp says where they are.
func (w *worker) lookUp(t []uint32, c int) span {
	key := memoKey{uint64(t[0])<<32 | uint64(t[c]), w.rest(t, c)}
	at, ok := w.table.find(key)
	if !ok {
		at = w.list(key.own, w.workOut(t, c))
		w.table.add(key, at)
	}
	return w.lists[at]
}

// list numbers the moves just computed. A client's moves depend on the other clients much less often than they might.
// Equal lists are stored once, and the few lists stay in the cache.
func (w *worker) list(own uint64, l span) uint32 {
	for _, id := range w.known[own] {
		if o := w.lists[id]; slices.Equal(w.moves[o.from:o.to], w.moves[l.from:l.to]) {
			w.moves = w.moves[:l.from]
			return id
		}
	}
	id := uint32(len(w.lists))
	w.lists = append(w.lists, l)
	w.known[own] = append(w.known[own], id)
	return id
}

// workOut has the world carry out every action of a client.
func (w *worker) workOut(t []uint32, c int) span {
	from := uint32(len(w.moves))
	w.enter(t)
	acts := w.sys.Actions(c, nil)
	w.keep(len(acts))
	for i, a := range acts {
		if i > 0 {
			w.enterAgain(t)
		}
		m, out := w.take(a)
		m.client = w.clientPart(c)
		m.delta = states.Mix(w.shared.At(m.shared).Hash) - states.Mix(w.shared.At(t[0]).Hash) +
			w.clients.At(m.client).Hash - w.clients.At(t[c]).Hash
		m.reaches = !w.memoryless && (m.visible || m.op.Administrative()) || w.disturbs(t, c)
		if m.reaches {
			m.effect = w.number(out.Effect)
			w.noteEffect(t, c, m.effect)
		}
		w.moves = append(w.moves, m)
	}
	return span{from, uint32(len(w.moves))}
}

// take carries out an action in the world at hand.
func (w *worker) take(a scenario.Action) (move, *sim.Outcome) {
	out := w.sys.Take(a)
	w.note(a, &out)
	m := move{action: a, shared: w.sharedPart(), found: out.Found, op: out.Op, visible: out.Visible}
	m.unwitnessed = w.leavesOpen(&out, m.shared)
	return m, &out
}

// step is take where whole states are looked at.
func (w *worker) step(a scenario.Action) sim.Outcome {
	out := w.sys.Step(a)
	w.note(a, &out)
	return out
}

// note adds an action to what was covered, and says if it shows that time matters.
func (w *worker) note(a scenario.Action, out *sim.Outcome) {
	w.cover.Note(a, out)
	if out.Timed && w.alone {
		w.timed.Store(true)
	}
}

// leavesOpen reports whether an action ended an operation in an execution that is not its own witness. shared is the shared
// part after it.
func (w *worker) leavesOpen(out *sim.Outcome, shared uint32) bool {
	return out.Completed && w.bounds.Properties.Has(property.Linearizable) && w.shared.At(shared).Unwitnessed
}

// number numbers an effect. Many moves have the same.
func (w *worker) number(e sim.Effect) uint32 {
	id, ok := w.effects[e]
	if !ok {
		id = uint32(len(w.effects))
		w.effects[e] = id
		w.other.inert = append(w.other.inert, nil)
	}
	return id
}

// disturbs reports whether the action just taken changed a client other than c.
func (w *worker) disturbs(t []uint32, c int) bool {
	for d := 1; d < w.stride; d++ {
		if d != c && w.clientPart(d) != t[d] {
			return true
		}
	}
	return false
}

// noteEffect records the effect of client c's last action on the other clients.
func (w *worker) noteEffect(t []uint32, c int, id uint32) {
	for d := 1; d < w.stride; d++ {
		if d != c {
			w.other.set(id, t[d], w.clientPart(d))
		}
	}
}

// apply is the state that a move of client c leads to. It may be t itself. It reports whether the others
// are as they were.
func (w *worker) apply(to, t []uint32, c int, m *move) bool {
	spared := !m.reaches || w.spares(t, c, m.effect)
	if spared {
		copy(to, t)
	} else {
		w.reach(to, t, c, m)
	}
	to[0], to[c] = m.shared, m.client
	return spared
}

// spares reports whether an effect is known to leave all clients but c unchanged.
func (w *worker) spares(t []uint32, c int, effect uint32) bool {
	set := w.other.inert[effect]
	for d := 1; d < len(t); d++ {
		if d != c && !set.Has(t[d]) {
			return false
		}
	}
	return true
}

// reach applies a move's effect to all clients but c.
func (w *worker) reach(to, t []uint32, c int, m *move) {
	for d := 1; d < w.stride; d++ {
		if d == c {
			continue
		}
		id, ok := w.other.get(m.effect, t[d])
		if !ok {
			w.enter(t)
			a := m.action
			a.Client = uint8(c)
			w.sys.Take(a)
			w.noteEffect(t, c, m.effect)
			id, _ = w.other.get(m.effect, t[d])
		}
		w.moved[d-1] = id
	}
	for d := 1; d < w.stride; d++ {
		if d != c {
			to[d] = w.moved[d-1]
		}
	}
}
