package search

import "slices"

// aspect is what clients without anything can do in all contexts that they can't tell apart: the same is
// shared, and the same may be seen of those who hold something.
type aspect struct {
	steps []aspectStep
	index map[aspectKey]int
	done  map[attempt]bool
}

// aspectKey is what an action comes to beside those who hold something.
type aspectKey struct {
	shared, joins, effect uint32
	left                  abandoned
}

// attempt is a client that acts, beside another of whom something may be seen.
type attempt struct {
	part uint32
	view uint64
}

// aspectStep is an action, by whoever can take it.
type aspectStep struct {
	aspectKey
	by []actors
}

// actors are the parts of those who can take an action beside somebody of whom something may be seen.
type actors struct {
	view  uint64 // 0 is beside nobody
	who   bitset
	moves map[uint32]chosen // by part
}

// chosen is a move, beside a part, plus 1.
type chosen struct {
	beside uint32
	move   anyMove
}

func (w *anyWorker) aspect(g *anyContext) *aspect {
	key := uint64(g.shared)<<32 | uint64(w.rest(g.holders))
	a := w.aspects[key]
	if a == nil {
		a = &aspect{index: make(map[aspectKey]int), done: make(map[attempt]bool)}
		w.aspects[key] = a
	}
	return a
}

// watchersAct has those act who hold nothing: those who have come, and all beside those who have come.
func (w *anyWorker) watchersAct(g *anyContext, now *news) {
	a := w.aspect(g)
	for p := range now.fresh.all {
		w.turn(a, g, p, 0)
		for _, b := range g.besides {
			w.turn(a, g, p, b)
		}
	}
	for p := range now.seen.all {
		for _, b := range now.besides {
			w.turn(a, g, p, b)
		}
	}
	for i := range a.steps {
		w.follow(a, g, now, i)
	}
}

// turn works out what a client can do beside another, a part, plus 1, if that was not done yet.
func (w *anyWorker) turn(a *aspect, g *anyContext, p, beside uint32) {
	t := attempt{part: p}
	if beside > 0 {
		t.view = w.clients.get(beside - 1).view
	}
	if a.done[t] {
		return
	}
	a.done[t] = true
	for _, m := range w.moves(g.shared, p, g.holders, beside) {
		key := aspectKey{shared: m.shared, left: m.left, effect: m.effect}
		if w.clients.get(m.own).holds {
			key.joins = m.own + 1
		}
		i, ok := a.index[key]
		if !ok {
			i = len(a.steps)
			a.index[key] = i
			a.steps = append(a.steps, aspectStep{aspectKey: key})
		}
		a.steps[i].add(t, chosen{beside, m})
	}
}

// add adds somebody who can take the action. Two actions of one client that come to the same for all others
// are two of its parts: both are kept.
func (s *aspectStep) add(t attempt, d chosen) {
	for i := 0; ; i++ {
		if i == len(s.by) {
			s.by = append(s.by, actors{view: t.view, moves: make(map[uint32]chosen)})
		}
		by := &s.by[i]
		if by.view == t.view && !by.who.has(t.part) {
			by.who.add(t.part)
			by.moves[t.part] = d
			return
		}
	}
}

// follow has the i-th action of an aspect happen in a context, by those who are new to it.
func (w *anyWorker) follow(a *aspect, g *anyContext, now *news, i int) {
	s := &a.steps[i]
	var arrivals bitset
	var how *takenIn
	for k := range s.by {
		by := &s.by[k]
		who := now.fresh
		switch {
		case by.view == 0:
		case !slices.Contains(g.classes, by.view):
			continue
		case w.isNew(by.view, now):
			who = now.seen
		}
		for p := range by.who.and(who) {
			d := by.moves[p]
			w.note(g, p, &d.move)
			if s.joins == 0 {
				arrivals.add(d.move.own)
			}
			if how == nil {
				how = &takenIn{g.shared, among(p, g.holders, d.beside), d.move}
			}
		}
	}
	if how == nil {
		return
	}
	for len(g.led) <= i {
		g.led = append(g.led, 0)
	}
	if g.led[i] == 0 {
		g.led[i] = w.lead(g, how) + 1
	}
	w.arrive(g.steps[g.led[i]-1].to, arrivals)
}

// isNew reports whether something can be seen that could be seen of nobody before.
func (w *anyWorker) isNew(view uint64, now *news) bool {
	return slices.ContainsFunc(now.besides, func(b uint32) bool { return w.clients.get(b-1).view == view })
}

// lead is the step of a context that an action is, by its index.
func (w *anyWorker) lead(g *anyContext, how *takenIn) int32 {
	to, _ := w.leads(how, g.holders)
	does := w.effects.at(how.move.effect)
	at := slices.IndexFunc(g.steps, func(s step) bool { return s.to == to && s.does == does })
	if at < 0 {
		at = len(g.steps)
		g.steps = append(g.steps, step{to, does, how})
	}
	return int32(at)
}
