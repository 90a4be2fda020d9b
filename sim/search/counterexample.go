package search

import (
	"context"
	"slices"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Counterexamples finds, for each property in want, the actions of a shortest execution that violates it. It visits
// again the states that a [Run] with reductions red visits, breadth first, with one worker and in a fixed order. It
// also stores each state's predecessor, for which Run would lack memory.
//
// illegal reports whether the history of an execution is not linearizable. It is called when an operation ends and the
// monitor has constructed no linearization of the execution, at most maxJudged times. The second result is the number
// of calls.
func Counterexamples(ctx context.Context, b sim.Bounds, red Reductions, want property.Set, illegal func([]scenario.Action) bool) (map[property.Property][]scenario.Action, int) {
	t := newCounterexampleSearch(b, red, want, illegal, false)
	if t.run(ctx); t.timed.Load() && t.alone {
		t = newCounterexampleSearch(b, red, want, illegal, true)
		t.run(ctx)
	}
	return t.found, t.judged
}

// Short is the result of [Shorter].
type Short struct {
	Actions []scenario.Action // nil if none was found
	Certain bool              // the search was complete: no violating execution is shorter
	States  int               // visited states
}

// Shorter looks for the shortest execution of fewer than n actions that violates property p. It visits all such
// executions, with every crash and no reduction except symmetry. It gives up if they have more than the given number of
// states. It cannot judge linearizability, which depends on whole histories and not on states.
func Shorter(ctx context.Context, b sim.Bounds, p property.Property, n, states int) (s Short) {
	b.Every = true
	for _, unmemoised := range []bool{false, true} {
		t := newCounterexampleSearch(b, Reductions{Symmetry: true}, 1<<p, nil, unmemoised)
		s.Certain = t.upTo(ctx, n, states)
		s.States += len(t.links)
		if s.Actions = t.found[p]; len(s.Actions) >= n {
			s.Actions = nil
		}
		if !t.timed.Load() || !t.alone {
			break
		}
	}
	return s
}

// upTo searches depth levels, and reports whether it completed them with at most the given number of states.
func (t *counterexampleSearch) upTo(ctx context.Context, depth, states int) bool {
	defer t.seen.free()
	t.begin()
	for ; depth > 0 && len(t.level) > 0 && t.want != 0; depth-- {
		t.step(ctx)
		if ctx.Err() != nil || len(t.links) > states {
			return false
		}
	}
	return true
}

func newCounterexampleSearch(b sim.Bounds, red Reductions, want property.Set, illegal func([]scenario.Action) bool, unmemoised bool) *counterexampleSearch {
	p := newPlan(b, red.For(&b))
	p.slow(unmemoised)
	return &counterexampleSearch{
		worker: p.worker(), seen: newFingerprints(), want: want, illegal: illegal,
		found: make(map[property.Property][]scenario.Action),
	}
}

// Guided is a search for counterexamples that expands only the states that an abstraction selects.
type Guided struct {
	Most   int                          // maximal number of visited states; 0 is no bound
	Within func(world *sim.System) bool // reports whether to expand the current state of world
}

// Visited is the result of a guided search.
type Visited struct {
	Found  map[property.Property][]scenario.Action // for each violated property, the actions of a shortest execution
	States int                                     // visited states
	All    bool                                    // the search ended because no state was left to expand
}

// Run searches until a violation of each property in want is found. Its only reduction is symmetry. For illegal, see
// [Counterexamples].
func (g Guided) Run(ctx context.Context, b sim.Bounds, want property.Set, illegal func([]scenario.Action) bool) Visited {
	t := newCounterexampleSearch(b, Reductions{Symmetry: true}, want, illegal, false)
	t.most = g.Most
	t.within = func(state []uint32) bool {
		t.enter(state)
		return g.Within(t.sys)
	}
	t.run(ctx)
	return Visited{Found: t.found, States: len(t.links), All: len(t.level) == 0}
}

func (t *counterexampleSearch) run(ctx context.Context) {
	defer t.seen.free()
	t.begin()
	for len(t.level) > 0 && t.want != 0 && !(t.most > 0 && len(t.links) > t.most) && ctx.Err() == nil && !(t.timed.Load() && t.alone) {
		t.step(ctx)
	}
}

// maxJudged is the maximal number of histories whose linearizability one search checks.
const maxJudged = 20_000

// counterexampleSearch is a search that stores each state's predecessor.
type counterexampleSearch struct {
	*worker
	seen    *fingerprints
	want    property.Set
	illegal func([]scenario.Action) bool
	found   map[property.Property][]scenario.Action
	longer  property.Set // their paths end after this level; a path that ends in the level would be shorter
	judged  int

	links []link   // for each state, in the order of discovery, how it was first reached
	level []uint32 // states of the level, stride numbers each
	first int      // the number of the first state of the level
	next  []uint32
	to    []uint32
	at    uint32 // the state being expanded

	// within reports whether to expand a state; nil expands all. most is the maximal number of states; 0 is no bound.
	within func(state []uint32) bool
	most   int
}

// link says how a state was first reached: the number of its predecessor, and the client and the move that led from
// there.
type link struct {
	parent uint32
	client uint8
	move   uint8 // index among the client's moves in the predecessor
}

func (t *counterexampleSearch) begin() {
	t.level = t.initial()
	t.ample(t.level, nil)
	t.add(t.level, link{})
	t.next = nil
	t.violated(t.own(t.level), func() []scenario.Action { return nil })
}

// add adds a state that was not seen before and that within does not exclude. It reports whether it added the state.
func (t *counterexampleSearch) add(state []uint32, l link) bool {
	var fresh [1]bool
	t.seen.insert([]uint64{t.fingerprint(state)}, state, fresh[:])
	if fresh[0] && t.within != nil && !t.within(state) {
		return false
	}
	if fresh[0] {
		t.links = append(t.links, l)
		t.next = append(t.next, state...)
	}
	return fresh[0]
}

func (t *counterexampleSearch) step(ctx context.Context) {
	n := len(t.level) / t.stride
	for i := range n {
		if t.want|t.longer == 0 || t.most > 0 && len(t.links) > t.most || i%1024 == 0 && ctx.Err() != nil {
			return
		}
		t.at = uint32(t.first + i)
		t.expand(t.level[i*t.stride : (i+1)*t.stride])
	}
	t.first, t.longer = t.first+n, 0
	t.level, t.next = t.next, t.level[:0]
}

func (t *counterexampleSearch) expand(state []uint32) {
	from, until := 0, t.stride
	if c := t.choosing(state); c > 0 {
		from, until = c, c+1
	}
	n := 0
	for c := from; c < until; c++ {
		if c > 0 && t.duplicate(state, c) || c == 0 && !t.global && t.alone {
			continue
		}
		for i := range t.ways(state, c) {
			if n++; t.want != 0 {
				t.follow(state, c, i)
			}
		}
	}
	if n == 0 || t.bounds.Forever {
		t.ended(t.judgement(state))
	}
}

// judgement returns the properties that a final state violates. A state is final if it has no further actions. If
// workloads repeat forever, a state is final if no operation is under way.
func (t *counterexampleSearch) judgement(state []uint32) property.Set {
	if t.bounds.Forever {
		if t.enter(state); t.sys.Quiet() {
			return t.sys.Audit()
		}
		return 0
	}
	if t.alone {
		return t.final(state)
	}
	return t.worker.judge(state)
}

// ways returns the number of possible actions of client c in a state; client 0 is the broker.
func (t *counterexampleSearch) ways(state []uint32, c int) int {
	if t.alone && c > 0 {
		return len(t.of(state, c))
	}
	t.enter(state)
	return len(t.sys.Actions(c, t.acts[:0]))
}

// take executes the i-th action of client c from a state, stores the resulting state in t.to, and returns the move.
func (t *counterexampleSearch) take(state []uint32, c, i int) move {
	t.to = append(t.to[:0], state...)
	if t.alone && c > 0 {
		m := t.of(state, c)[i]
		m.action.Client = uint8(c)
		t.apply(t.to, state, c, &m)
		return m
	}
	t.enter(state)
	t.acts = t.sys.Actions(c, t.acts[:0])
	m, _ := t.worker.take(t.acts[i])
	t.read(t.to)
	return m
}

func (t *counterexampleSearch) follow(state []uint32, c, i int) {
	m := t.take(state, c, i)
	path := func() []scenario.Action { return append(t.path(t.at), m.action) }
	t.violated(m.found, path)
	t.ample(t.to, nil)
	fresh := t.add(t.to, link{t.at, uint8(c), uint8(i)})
	if fresh {
		t.violated(t.own(t.to), path)
	}
	if !fresh || !m.unwitnessed || !t.want.Has(property.Linearizable) || t.judged == maxJudged {
		return
	}
	t.judged++
	if actions := path(); t.illegal(actions) {
		t.violated(1<<property.Linearizable, func() []scenario.Action { return actions })
	}
}

// violated stores the path for each property in found that has none yet. The path ends with an action that leads from a
// state of the level to the next level.
func (t *counterexampleSearch) violated(found property.Set, path func() []scenario.Action) {
	found &= t.want
	t.keep(found, path)
	t.longer |= found
}

// ended stores the path to a final state of this level for each property in found, unless a path that is as short is
// known.
func (t *counterexampleSearch) ended(found property.Set) {
	found &= t.want | t.longer
	t.keep(found, func() []scenario.Action { return t.path(t.at) })
	t.longer &^= found
}

func (t *counterexampleSearch) keep(found property.Set, path func() []scenario.Action) {
	for p := range property.Property(property.Most) {
		if found.Has(p) {
			t.found[p] = path()
		}
	}
	t.want &^= found
}

// path returns the actions that lead from the initial state to the state with number at.
func (t *counterexampleSearch) path(at uint32) []scenario.Action {
	var links []link
	for ; at > 0; at = t.links[at].parent {
		links = append(links, t.links[at])
	}
	slices.Reverse(links)
	var actions []scenario.Action
	note := func(a scenario.Action) { actions = append(actions, a) }
	to := t.to
	t.to = nil
	state := t.initial()
	t.ample(state, note)
	for _, l := range links {
		note(t.take(state, int(l.client), int(l.move)).action)
		copy(state, t.to)
		t.ample(state, note)
	}
	t.to = to
	return actions
}
