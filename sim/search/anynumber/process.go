package anynumber

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/sim/search/states"
)

// step is an action that is possible in a context: the context that it leads to, and its effect on the other clients.
type step struct {
	to   *viewContext
	does *influence
	by   uint32   // role of the acting holder plus 1 if no other client has this role; 0 otherwise
	how  *takenIn // an action that has this outcome
	// open has the views of idle clients that the step can affect: the action has the same outcome in a state with such
	// a client. Holders, and clients that others cannot see, can always be affected. If all is set, every client can.
	open []opening
	all  bool
}

// opening is the view of an idle client (what others see of it). In a state with such a client, an action has the same
// effect as without it.
type opening struct {
	view uint64
	how  *takenIn // the action for which this was observed
}

// outcome identifies a step of a context. Steps with equal outcomes lead to the same context, and change the other
// clients in the same way.
type outcome struct {
	shared, effect uint32
	by, becomes    uint32 // the acting client's role before (see step.by) and after, each plus 1; 0 means none
	left           abandoned
	all            bool
}

// arrival has what the current round adds to a step.
type arrival struct {
	who  states.Set // the parts of acting clients after the step
	open []uint64   // views of idle clients that may watch the step from now on
}

// arrive adds the parts in set to those that a client can have in context g.
func (w *worker) arrive(g *viewContext, set states.Set) {
	if g.join(set) {
		w.dirty = append(w.dirty, g)
	}
}

// process computes the new steps of a context: steps of its new clients, and steps of other clients in states with an
// idle client of a new view. Then it applies the effects of all steps to the new clients.
func (w *worker) process(g *viewContext) {
	fresh, who, old := g.seen.Without(g.done), w.population(g), len(g.steps)
	w.now = append(w.now[:0], make([]arrival, old)...)
	news := w.meet(g, fresh)
	for p := range g.seen.All {
		if fresh.Has(p) {
			w.turn(g, &who, p+1, g.besides, true)
		} else if len(news) > 0 {
			w.turn(g, &who, p+1, news, false)
		}
	}
	if w.bounds.Faults.Restarts != 0 && (!g.looked || len(news) > 0) {
		w.turn(g, &who, 0, news, !g.looked)
	}
	for i := range g.steps {
		watching := fresh
		if i >= old {
			watching = g.seen
		}
		w.pass(g, &g.steps[i], who.watching(&g.steps[i], watching, w.now[i].open), w.now[i].who)
	}
	w.audit(g, &who)
	if w.thorough {
		w.besideTwo(g, &who)
	}
	g.looked, g.done = true, slices.Clone(g.seen)
}

// meet records the views of new idle clients, that is, what others see of them. It returns one part, plus 1, for each
// new view.
func (w *worker) meet(g *viewContext, fresh states.Set) (news []uint32) {
	first := make(map[uint64]uint32)
	for p := range fresh.All {
		d := w.clients.At(p)
		if d.Holds || d.View == 0 || slices.ContainsFunc(g.besides, func(b uint32) bool { return w.clients.At(b-1).View == d.View }) {
			continue
		}
		if o, ok := first[d.View]; !ok || w.precedes(p, o-1) {
			first[d.View] = p + 1
		}
	}
	for _, part := range first {
		news = append(news, part)
	}
	slices.Sort(news)
	g.besides = append(g.besides, news...)
	return news
}

// turn adds the steps of a client (own is its part plus 1) or of the broker (own is 0). It executes each action in a
// state with the holders only. It then executes it with each client of besides (parts plus 1), where the result may
// differ. fresh says that the acting client is new in the context.
func (w *worker) turn(g *viewContext, who *population, own uint32, besides []uint32, fresh bool) {
	by := uint32(0)
	if own > 0 {
		by = known(w.clients.At(own - 1))
	}
	others := who.beside(by)
	if by > 0 && who.holder(by-1).count > 1 {
		by = 0
	}
	alone := w.moves(g.shared, own, others, 0)
	open := make([][]uint64, len(alone))
	for _, b := range besides {
		view := w.clients.At(b - 1).View
		for _, m := range w.moves(g.shared, own, others, b) {
			if i := slices.IndexFunc(alone, func(o move) bool { return o.same(&m) }); i >= 0 {
				open[i] = append(open[i], view)
				w.note(g, own, &m)
				continue
			}
			i := w.add(g, by, &takenIn{g.shared, among(own, others, b), m}, others, true)
			w.happens(g, own, i, &m)
		}
	}
	for i := range alone {
		if fresh || len(open[i]) > 0 {
			how := &takenIn{g.shared, among(own, others, 0), alone[i]}
			k := w.add(g, by, how, others, false)
			g.steps[k].permit(how, open[i], &w.now[k])
			w.happens(g, own, k, &alone[i])
		}
	}
}

// add returns the index of the context's step that has the outcome of how's move. If there is none, it adds the step.
func (w *worker) add(g *viewContext, by uint32, how *takenIn, others []uint32, all bool) int32 {
	m := &how.move
	out := w.outcomeOf(m, by, all)
	i, ok := g.index[out]
	if !ok {
		i = int32(len(g.steps))
		g.index[out], g.steps = i, append(g.steps, step{to: w.leads(how, others), does: w.effects.at(m.effect), by: by, how: how, all: all})
		w.now = append(w.now, arrival{})
	}
	return i
}

// outcomeOf returns the outcome of move m. For by and all, see step.
func (s *exploration) outcomeOf(m *move, by uint32, all bool) outcome {
	out := outcome{shared: m.shared, effect: m.effect, by: by, left: m.left, all: all}
	if m.own > 0 {
		out.becomes = known(s.clients.At(m.own - 1))
	}
	return out
}

// permit lets idle clients with the given views watch a step. It adds to now the views that are new.
func (s *step) permit(how *takenIn, views []uint64, now *arrival) {
	for _, view := range views {
		if !slices.ContainsFunc(s.open, func(o opening) bool { return o.view == view }) {
			s.open, now.open = append(s.open, opening{view, how}), append(now.open, view)
		}
	}
}

// beside returns the action of the step as it was executed in a state with an idle client of the given view.
func (s *step) beside(view uint64) *takenIn {
	for _, o := range s.open {
		if o.view == view {
			return o.how
		}
	}
	return s.how
}

// happens records that a client (own is its part plus 1) or the broker (own is 0) makes move m, which belongs to step
// i.
func (w *worker) happens(g *viewContext, own uint32, i int32, m *move) {
	w.note(g, own, m)
	if m.own > 0 {
		w.now[i].who.Add(m.own - 1)
	}
}

// besideTwo checks that no move depends on two other clients at once. A move that is possible in a state with two other
// clients must also be possible with only one of them.
func (w *worker) besideTwo(g *viewContext, who *population) {
	in := func(all []move, m *move) bool {
		return slices.ContainsFunc(all, func(o move) bool { return o.same(m) })
	}
	for p := range g.seen.All {
		others := who.beside(known(w.clients.At(p)))
		alone := w.moves(g.shared, p+1, others, 0)
		for i, a := range g.besides {
			first := w.moves(g.shared, p+1, others, a)
			for _, b := range g.besides[:i] {
				second := w.moves(g.shared, p+1, others, b)
				for _, m := range w.moves(g.shared, p+1, append(slices.Clone(others), a-1), b) {
					if one, two := in(first, &m), in(second, &m); !one && !two || in(alone, &m) && !(one && two) {
						w.fail(fmt.Errorf("%v comes to something else beside two clients than beside either", m.action))
					}
				}
			}
		}
	}
}

// note records the violations of a move. own is the acting client's part, plus 1. If a named client represents the
// first kind with any number of clients, moves of that kind's other clients are not judged.
func (w *worker) note(g *viewContext, own uint32, m *move) {
	if w.named && own > 0 && int(w.class(own-1)) == w.fixed {
		return
	}
	w.violated(m.found, g)
	if m.unwitnessed {
		w.unwitnessed.Add(1)
	}
}

// leads returns the context that an action leads to. others has the parts of the holders that do not act.
func (w *worker) leads(how *takenIn, others []uint32) *viewContext {
	var then []uint32
	hold := func(part uint32) {
		if d := w.clients.At(part); d.Holds {
			then = append(then, d.Role)
		}
	}
	for _, h := range others {
		hold(w.after(how, h))
	}
	m := &how.move
	for _, part := range append(m.left[:], m.own) {
		if part > 0 {
			hold(part - 1)
		}
	}
	return w.contexts.intern(w.key, m.shared, then)
}

// pass adds parts to the context that step s leads to: the parts of the other clients (watching) after the step's
// effect, the parts of acting clients (arrivals), and the parts of half-open connections that the step leaves.
func (w *worker) pass(g *viewContext, s *step, watching, arrivals states.Set) {
	unknown := s.does.unknown(watching)
	if w.thorough {
		unknown = watching
	}
	for p := range unknown.All {
		w.watched(s.beside(w.clients.At(p).View), p)
	}
	for _, part := range s.how.move.left {
		if part > 0 {
			arrivals.Add(part - 1)
		}
	}
	set, same := s.does.image(watching)
	if same && s.to == g && len(arrivals) == 0 {
		return
	}
	if len(arrivals) > 0 {
		set = slices.Clone(set)
		set.Merge(arrivals)
	}
	w.arrive(s.to, set)
}

// audit checks a context for leftovers, such as slots that nobody holds. It does so if all holders can be without an
// operation under way. Other clients may have one under way, so only an execution of real clients confirms a violation.
func (w *worker) audit(g *viewContext, who *population) {
	if g.audited {
		return
	}
	var all []uint32
	for _, h := range who.holders {
		n := len(all)
		for p := range h.parts.All {
			if !w.clients.At(p).Busy {
				all = append(all, slices.Repeat([]uint32{p}, h.count)...)
				break
			}
		}
		if len(all) == n {
			return
		}
	}
	g.audited = true
	w.violated(w.enter(g.shared, all).Audit(), g)
}
