package search

import "slices"

// step is an action of somebody in a context: where it leads, and what it does to those who watch.
type step struct {
	to   *anyContext
	does *influence
	how  *takenIn
}

// takenIn is an action in a world, so that it can be carried out again beside others.
type takenIn struct {
	shared uint32
	all    []uint32 // the parts of the world, that of who acts first
	move   anyMove
}

// arrive adds parts to those that can stand beside a context.
func (w *anyWorker) arrive(g *anyContext, set bitset) {
	if g.join(set) {
		w.dirty = append(w.dirty, g)
	}
}

// process has everything happen in a context that is new there: what those can do who have come, and what
// others do meanwhile.
func (w *anyWorker) process(g *anyContext) {
	g.mu.Lock()
	g.pending = false
	seen := slices.Clone(g.seen)
	g.mu.Unlock()
	now := news{fresh: seen.without(g.done), seen: seen, old: len(g.steps)}
	now.besides = w.meet(g, now.fresh)
	w.holdersAct(g, now.besides)
	w.watchersAct(g, &now)
	for i := range g.steps {
		watching := now.fresh
		if i >= now.old {
			watching = seen
		}
		w.pass(g, &g.steps[i], watching)
	}
	if w.bounds.Faults.Restarts != 0 {
		w.restarts(g, now.fresh)
	}
	if !g.begun {
		w.audit(g)
	}
	g.begun, g.done = true, seen
}

// audit judges what is left behind where nobody who holds something has an operation under way. Others may
// have one: what is found is looked for with real clients.
func (w *anyWorker) audit(g *anyContext) {
	if !slices.ContainsFunc(g.holders, func(h uint32) bool { return w.clients.get(h).busy }) {
		w.violated(w.enter(g.shared, g.holders).Audit(), g)
	}
}

// news is what a context has that was not there when it was looked at last: parts, steps, and those of whom
// something may be seen that could be seen of nobody before: a part of each, plus 1.
type news struct {
	seen, fresh bitset
	old         int // steps that were there before
	besides     []uint32
}

// meet takes in what may be seen of those who have come.
func (w *anyWorker) meet(g *anyContext, fresh bitset) (news []uint32) {
	for p := range fresh.all {
		if view := w.clients.get(p).view; view != 0 && !slices.Contains(g.classes, view) {
			g.classes, g.besides = append(g.classes, view), append(g.besides, p+1)
			news = append(news, p+1)
		}
	}
	return news
}

// holdersAct has those act who hold something: alone, and beside those who have come.
func (w *anyWorker) holdersAct(g *anyContext, besides []uint32) {
	for i, h := range g.holders {
		if i > 0 && h == g.holders[i-1] {
			continue
		}
		others := slices.Delete(slices.Clone(g.holders), i, i+1)
		if !g.begun {
			w.act(g, h, others, 0)
		}
		for _, b := range besides {
			w.act(g, h, others, b)
		}
	}
}

// act adds the steps that a holder can take.
func (w *anyWorker) act(g *anyContext, own uint32, others []uint32, beside uint32) {
	moves := w.moves(g.shared, own, others, beside)
	for i := range moves {
		m := &moves[i]
		how := &takenIn{g.shared, among(own, others, beside), *m}
		to, left := w.leads(how, others)
		w.arrive(to, left)
		w.note(g, own, m)
		does := w.effects.at(m.effect)
		if !slices.ContainsFunc(g.steps, func(s step) bool { return s.to == to && s.does == does }) {
			g.steps = append(g.steps, step{to, does, how})
		}
	}
}

// note takes a move into what was found. own is the part of who makes it:
// who has a client that stands for it is not judged.
func (w *anyWorker) note(g *anyContext, own uint32, m *anyMove) {
	if w.named && int(w.class(own)) == w.fixed {
		return
	}
	w.violated(m.found, g)
	if m.doubted {
		w.doubted.Add(1)
	}
}

// leads is the context that an action leads to, where the others hold something beside it, and who has
// nothing any more.
func (w *anyWorker) leads(how *takenIn, others []uint32) (to *anyContext, without bitset) {
	then := w.then[:0]
	for _, h := range others {
		then = append(then, w.after(how, h))
	}
	m := &how.move
	if w.clients.get(m.own).holds {
		then = append(then, m.own)
	} else {
		without.add(m.own)
	}
	for _, part := range m.left {
		if part > 0 {
			then = append(then, part-1)
		}
	}
	w.then = then
	return w.contexts.intern(w.key, m.shared, then), without
}

// pass has those who watch a step be where it leads.
func (w *anyWorker) pass(g *anyContext, s *step, watching bitset) {
	for p := range s.does.unknown(watching).all {
		if w.after(s.how, p); w.stop.Load() != 0 {
			return
		}
	}
	if set, same := s.does.image(watching); !same || s.to != g {
		w.arrive(s.to, set)
	}
}

// restarts has the broker restart: with it goes what clients hold.
func (w *anyWorker) restarts(g *anyContext, fresh bitset) {
	if !g.begun {
		w.restart(g, g.holders)
	}
	for p := range fresh.all {
		w.restart(g, slices.Concat(g.holders, []uint32{p}))
	}
}

func (w *anyWorker) restart(g *anyContext, all []uint32) {
	for _, a := range w.enter(g.shared, all).Actions(0, nil) {
		sys := w.enter(g.shared, all)
		out := sys.Take(a)
		w.cover.note(a, &out)
		w.violated(out.Found, g)
		var idle bitset // nobody holds anything after a restart
		shared := w.sharedPart(sys)
		for i, p := range all {
			idle.add(w.part(sys, i+1, w.class(p)))
		}
		to := w.contexts.intern(nil, shared, nil)
		if !slices.Contains(g.restarted, to) {
			g.restarted = append(g.restarted, to)
		}
		w.arrive(to, idle)
	}
}
