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

// move is one action of a client and the action's result, for one combination of the inputs that the result depends on.
type move struct {
	action      scenario.Action // without Client, which the caller sets
	shared      uint32          // number of the state's shared part after the action
	client      uint32          // number of the acting client's part after the action
	effect      uint32          // number of the action's effect on the other clients, if reaches is set
	found       property.Set    // properties that the action violates
	op          lock.Op
	visible     bool   // other clients can notice the action
	unwitnessed bool   // the action completed an operation, and the monitor has no linearization of the execution
	delta       uint64 // change of the fingerprint's sum, if the other clients stay unchanged
	reaches     bool   // the action may change other clients' parts
}

// worker visits states. Each worker has its own memo tables; all workers share the tables of parts.
type worker struct {
	*plan
	sys     *sim.System
	table   memo                // maps the inputs of a client's moves to an index of lists
	lists   []span              // each list of moves is a range in moves
	known   map[uint64][]uint32 // by shared part and client's part: the indices of their lists
	moves   []move
	effects map[sim.Effect]uint32
	other   other // maps an effect and another client's part to the part after the effect
	done    memo  // maps the inputs of the judgement of a final state to an index of finals, which has the violations
	finals  []property.Set
	buf     []byte // scratch
	kept    bool   // the system has saved the current state for enterAgain
	load    [][]byte
	acts    []scenario.Action
	cover   Coverage
	moved   [8]uint32
	visible visibleStates // for exact storage, which uses no hashes
	carried links         // links between client parts, from steps taken without memo tables
	idle    idleSteps     // idle steps taken without memo tables
	recent  *recent       // nil for exact storage, where states with equal fingerprints may differ
	bytes   atomic.Int64  // size of the worker's tables
}

// span is a range of indices of a worker's moves: from the first index, inclusive, to the second, exclusive.
type span struct{ from, to uint32 }

// plan is the part of a search that its workers share.
type plan struct {
	bounds     sim.Bounds
	red        Reductions
	stride     int    // numbers in a state: one for the shared part and one for each client's part
	class      []byte // indexed by client: clients with equal classes can be permuted
	shared     *states.Table
	clients    *states.Table
	alone      bool          // a client's moves depend on other clients only by their visible parts (views)
	memoryless bool          // an action changes other clients' parts only by changing their queues
	global     bool          // the broker has actions of its own: restarts
	views      *states.Views // nil if views are hashed
	timed      atomic.Bool   // a move has shown that time matters, so that alone does not hold
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

// initial puts the simulated system into its initial state, and returns the state.
func (w *worker) initial() []uint32 {
	w.sys.Reset()
	t := make([]uint32, w.stride)
	w.read(t)
	return t
}

// enter puts the simulated system into state t.
func (w *worker) enter(t []uint32) {
	for c := 1; c < w.stride; c++ {
		w.load[c-1] = w.clients.Bytes(t[c])[1:]
	}
	w.sys.Load(w.shared.Bytes(t[0]), w.load)
}

// keep lets the system save a copy of its current state, if the backend can and if several actions follow from this
// state.
func (w *worker) keep(actions int) { w.kept = actions > 1 && w.sys.Keep() }

// enterAgain returns the simulated system to state t. The caller has called keep in t.
func (w *worker) enterAgain(t []uint32) {
	if !w.kept {
		w.enter(t)
		return
	}
	w.sys.Return()
}

// read sets t to the current state of the simulated system.
func (w *worker) read(t []uint32) {
	t[0] = w.sharedPart()
	for c := 1; c < w.stride; c++ {
		t[c] = w.clientPart(c)
	}
}

// readAfter stores in a tuple (to) the current state of the simulated system, after a step from another state (from).
// The caller has copied the earlier state into the tuple. readAfter looks up only the parts that have changed, which
// are few.
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

// writeShared and writeClient encode a part of the system's state in buf. numberShared and numberClient return the
// number of the part in buf.
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

// fingerprint returns a hash of a state, computed from the sum of its parts' hashes. States that differ only by a
// permutation of clients with the same workload have the same fingerprint.
func (w *worker) fingerprint(t []uint32) uint64 { return finish(w.sum(t)) }

func (w *worker) sum(t []uint32) uint64 {
	sum := states.Mix(w.shared.At(t[0]).Hash)
	for _, id := range t[1:] {
		sum += w.clients.At(id).Hash
	}
	return sum
}

func finish(sum uint64) uint64 { return states.Mix(sum) | 1 }

// fingerprintBits is the number of bits of a fingerprint that depend on the state.
const fingerprintBits = 63

// rest identifies the visible parts (views) of all clients except c. Besides the shared part and c's own part, it is
// the third input of c's moves.
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

// of returns the moves of client c in state t.
func (w *worker) of(t []uint32, c int) []move {
	l := w.lookUp(t, c)
	return w.moves[l.from:l.to]
}

// lookUp returns the range of moves of client c in state t.
func (w *worker) lookUp(t []uint32, c int) span {
	key := memoKey{uint64(t[0])<<32 | uint64(t[c]), w.rest(t, c)}
	at, ok := w.table.find(key)
	if !ok {
		at = w.list(key.own, w.workOut(t, c))
		w.table.add(key, at)
	}
	return w.lists[at]
}

// list returns the index in w.lists of range l, which has the moves just computed. own has the numbers of the shared
// part and of the client's part. Moves seldom depend on the other clients' views. list therefore stores equal moves for
// the same own once, so that the few lists stay in the processor's cache.
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

// workOut executes every action of client c in state t in the simulated system, and returns the range of the new moves.
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
			m.effect = w.number(out.Effect.Kept(w.bounds.Properties))
			w.noteEffect(t, c, m.effect)
		}
		w.moves = append(w.moves, m)
	}
	return span{from, uint32(len(w.moves))}
}

// take executes an action in the current state of the simulated system, and returns the move and its outcome.
func (w *worker) take(a scenario.Action) (move, *sim.Outcome) {
	out := w.sys.Take(a)
	w.note(a, &out)
	m := move{action: a, shared: w.sharedPart(), found: out.Found, op: out.Op, visible: out.Visible}
	m.unwitnessed = w.leavesOpen(&out, m.shared)
	return m, &out
}

// step executes an action like take, but returns no move: its callers then read the whole state.
func (w *worker) step(a scenario.Action) sim.Outcome {
	out := w.sys.Step(a)
	w.note(a, &out)
	return out
}

// note adds an action to the coverage, and sets timed if the action shows that time matters.
func (w *worker) note(a scenario.Action, out *sim.Outcome) {
	w.cover.Note(a, out)
	if out.Timed && w.alone {
		w.timed.Store(true)
	}
}

// leavesOpen reports whether an action completed an operation while the monitor has no linearization of the execution.
// shared is the number of the shared part after the action.
func (w *worker) leavesOpen(out *sim.Outcome, shared uint32) bool {
	return out.Completed && w.bounds.Properties.Has(property.Linearizable) && w.shared.At(shared).Unwitnessed
}

// number returns the number of effect e. Equal effects of different moves have the same number.
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

// noteEffect records under effect number id how client c's last action, from state t, changed the parts of the other
// clients.
func (w *worker) noteEffect(t []uint32, c int, id uint32) {
	for d := 1; d < w.stride; d++ {
		if d != c {
			w.other.set(id, t[d], w.clientPart(d))
		}
	}
}

// apply stores in a tuple (to) the state to which move m of client c leads from state t. Both may be the same slice. It
// reports whether the move leaves the other clients unchanged.
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

// spares reports whether an effect is known to leave the parts of all clients but c unchanged.
func (w *worker) spares(t []uint32, c int, effect uint32) bool {
	set := w.other.inert[effect]
	for d := 1; d < len(t); d++ {
		if d != c && !set.Has(t[d]) {
			return false
		}
	}
	return true
}

// reach stores in a tuple (to) the parts of all clients except c as they are after move m from state t.
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
