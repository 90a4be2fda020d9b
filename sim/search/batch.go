package search

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// batch collects the states that a worker reaches, and looks up all of them in the set of seen states at once. The
// memory accesses of these look-ups then overlap. Waiting for them takes most of a worker's time.
type batch struct {
	*search
	*worker
	fps    []uint64
	states []uint32
	fresh  []bool
	block  []uint32 // new states, for the next level
	blocks [][]uint32
	stats  Stats
	found  property.Set
}

const batchStates = 256

// expand adds the successors of state t.
func (b *batch) expand(t []uint32) {
	w := b.worker
	b.stats.Expanded++
	if !w.alone {
		b.unmemoised(t)
		return
	}
	n := 0
	from, until := 1, w.stride
	if c := w.choosing(t); c > 0 {
		from, until = c, c+1
	}
	// Look up the moves of all clients before following any move, so that the waits for memory overlap.
	var lists [lock.MaxClients + 1]span
	for c := from; c < until; c++ {
		if !w.duplicate(t, c) {
			lists[c] = w.lookUp(t, c)
		}
	}
	sum := w.sum(t)
	for c := from; c < until; c++ {
		l := lists[c]
		for id := l.from; id < l.to; id++ {
			b.follow(t, sum, c, &w.moves[id])
		}
		n += int(l.to - l.from)
	}
	if w.global {
		n += b.carryOut(t, 1)
	}
	if n == 0 {
		b.stats.Final++
		b.violated(w.final(t))
	}
}

// follow adds the state that move m of client c leads to from state t. sum is the sum of the hashes of t's parts.
func (b *batch) follow(t []uint32, sum uint64, c int, m *move) {
	w := b.worker
	b.count(m)
	b.states = append(b.states, t...)
	to := b.states[len(b.states)-len(t):]
	spared := w.apply(to, t, c, m)
	if settled := w.ample(to, nil); spared && !settled {
		b.add(finish(sum + m.delta))
		return
	}
	b.add(w.fingerprint(to))
}

// add keeps the last state of b.states, which has fingerprint fp, for the next flush. It drops the state if fp is in
// the cache of recent fingerprints.
func (b *batch) add(fp uint64) {
	if b.recent != nil && b.recent.met(fp) {
		b.states = b.states[:len(b.states)-b.worker.stride]
		return
	}
	b.fps = append(b.fps, fp)
	if len(b.fps) == batchStates {
		b.flush()
	}
}

// unmemoised expands state t without memo tables: the simulated system executes every action of t.
func (b *batch) unmemoised(t []uint32) {
	if n := b.carryOut(t, b.worker.stride); n == 0 {
		b.stats.Final++
		b.violated(b.worker.judge(t))
	}
}

// carryOut executes the actions of the broker (client 0) and of clients 1 to until-1 from state t, and adds the
// resulting states. It returns the number of actions.
func (b *batch) carryOut(t []uint32, until int) int {
	w := b.worker
	w.enter(t)
	w.acts = w.acts[:0]
	for c := range until {
		if c == 0 || !w.duplicate(t, c) {
			w.acts = w.sys.Actions(c, w.acts)
		}
	}
	w.keep(len(w.acts))
	for i, a := range w.acts {
		if i > 0 {
			w.enterAgain(t)
		}
		out := w.step(a)
		b.states = append(b.states, t...)
		to := b.states[len(b.states)-len(t):]
		w.readAfter(to, t)
		b.count(&move{found: out.Found, op: out.Op, unwitnessed: w.leavesOpen(&out, to[0])})
		fp := w.fingerprint(to)
		w.link(a, t, to, fp)
		b.add(fp)
	}
	return len(w.acts)
}

// count adds move m to the counts of transitions, operations and unwitnessed operations, and notes m's violations.
func (b *batch) count(m *move) {
	b.stats.Transitions++
	b.stats.Operations[m.op]++
	if m.found != 0 {
		b.violated(m.found)
	}
	if m.unwitnessed {
		b.stats.Unwitnessed++
	}
}

func (b *batch) violated(p property.Set) { b.found |= p }

// flush looks up the collected states, and adds the new ones to the next level.
func (b *batch) flush() {
	if cap(b.fresh) < len(b.fps) {
		b.fresh = make([]bool, batchStates)
	}
	stride := b.worker.stride
	b.seen.insert(b.fps, b.states, b.fresh[:len(b.fps)])
	for i, fresh := range b.fresh[:len(b.fps)] {
		if fresh {
			b.violated(b.worker.own(b.states[i*stride : (i+1)*stride]))
			b.block = append(b.block, b.states[i*stride:(i+1)*stride]...)
			if len(b.block) >= blockStates*stride {
				b.keep()
				b.block = make([]uint32, 0, blockStates*stride)
			}
		}
	}
	b.fps, b.states = b.fps[:0], b.states[:0]
}

// close merges the worker's results into those of the whole search.
func (b *batch) close() {
	if len(b.block) > 0 {
		b.keep()
	}
	s := b.search
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, b.blocks...)
	r := &s.res
	for p := range property.Property(property.Most) {
		if b.found.Has(p) && !r.Found.Has(p) {
			r.At[p] = r.Depth + 1
		}
	}
	r.Found |= b.found
	r.Transitions += b.stats.Transitions
	r.Expanded += b.stats.Expanded
	r.Final += b.stats.Final
	r.Unwitnessed += b.stats.Unwitnessed
	for i, n := range b.stats.Operations {
		r.Operations[i] += n
	}
}

// own returns the custom properties that a state violates.
func (w *worker) own(t []uint32) property.Set {
	if len(w.bounds.Own) == 0 {
		return 0
	}
	w.enter(t)
	return w.sys.Own()
}

// final returns the properties that state t violates if t has no further actions. It keeps the result in a memo table.
func (w *worker) final(t []uint32) property.Set {
	key := memoKey{uint64(t[0]), w.rest(t, 0)}
	if v, ok := w.done.find(key); ok {
		return w.finals[v]
	}
	found := w.judge(t)
	at := slices.Index(w.finals, found)
	if at < 0 {
		at, w.finals = len(w.finals), append(w.finals, found)
	}
	w.done.add(key, uint32(at))
	return found
}

func (w *worker) judge(t []uint32) property.Set {
	w.enter(t)
	w.cover.end(w.sys.Slots())
	return w.sys.Finish()
}
