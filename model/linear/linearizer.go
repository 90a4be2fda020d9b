package linear

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"
)

// linearizer looks for an order of atomic steps that explains every answer. It searches depth first and remembers
// visited nodes. An atomic step takes effect just before a return that asks for it ("just-in-time linearization"). The
// library porcupine visits every subset of the steps under way; two rules keep this search small:
//
//   - No return asks for an atomic step that never returns. The state shows whether such a step took effect, so it is
//     not recorded in the node.
//   - An atomic step that only observes takes effect as soon as its observation is true, since it affects no other
//     step.
type linearizer struct {
	p     *Specification
	asks  []ask // returns in the order of time
	steps *int  // number of steps left
	seen  map[node]struct{}
	todo  []node
}

// ask is the return of an atomic step. The step must have taken effect by then.
type ask struct {
	asked int    // index of the step in open; none if the step returns before it is called
	open  []wait // atomic steps that were called and have not returned yet
}

// wait is an atomic step under way. number identifies the step in a stepSet; it is none if the step needs no number.
type wait struct {
	*atomicStep
	number int
}

// node is a position of the search. ask is the index of the next return in linearizer.asks. All steps that return
// before it have taken effect.
type node struct {
	ask   int
	done  stepSet // atomic steps under way that have taken effect
	state lockState
}

// maxOpen is the largest number of atomic steps under way that have a number.
const maxOpen = 256

// stepSet is a set of the numbers of atomic steps, as bits.
type stepSet [maxOpen / 64]uint64

func (s *stepSet) has(n int) bool { return n != none && s[n/64]&(1<<(n%64)) != 0 }
func (s *stepSet) add(n int)      { s[n/64] |= 1 << (n % 64) }
func (s *stepSet) remove(n int)   { s[n/64] &^= 1 << (n % 64) }

// linearize decides whether some order explains the operations of one part. It takes at most *steps steps, and
// subtracts those that it takes.
func (p *Specification) linearize(ops []porcupine.Operation, steps *int) Decision {
	l := linearizer{p: p, steps: steps, seen: make(map[node]struct{})}
	if !l.line(ops) {
		return Undecided
	}
	l.visit(node{state: p.initial()})
	for len(l.todo) > 0 {
		at := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		if at.ask == len(l.asks) {
			return Legal
		}
		if !l.expand(&at) {
			return Undecided
		}
	}
	return Illegal
}

// line sorts the calls and returns by time. It reports false if too many atomic steps are under way at once. Intervals
// are closed: a step that is called at the moment when another returns overlaps it.
func (l *linearizer) line(ops []porcupine.Operation) bool {
	var calls, returns []*atomicStep
	for _, op := range ops {
		u := op.Input.(*atomicStep)
		calls = append(calls, u)
		if !l.endless(u) {
			returns = append(returns, u)
		}
	}
	slices.SortStableFunc(calls, func(a, b *atomicStep) int { return cmp.Compare(a.from, b.from) })
	slices.SortStableFunc(returns, func(a, b *atomicStep) int { return cmp.Compare(a.to, b.to) })
	var open []wait
	var used stepSet
	for _, u := range returns {
		for len(calls) > 0 && calls[0].from <= u.to {
			n, ok := l.number(calls[0], &used)
			if !ok {
				return false
			}
			open, calls = append(open, wait{calls[0], n}), calls[1:]
		}
		i := slices.IndexFunc(open, func(w wait) bool { return w.atomicStep == u })
		l.asks = append(l.asks, ask{asked: i, open: slices.Clone(open)})
		if i != none {
			used.remove(open[i].number)
			open = slices.Delete(open, i, i+1)
		}
	}
	return true
}

// endless reports whether an atomic step never returns. Such a step may also have no effect.
func (l *linearizer) endless(u *atomicStep) bool { return u.to == l.p.ticks.end }

// number gives an atomic step that was called the smallest free number. A step needs none if it never returns and
// carrying it out twice makes no difference.
func (l *linearizer) number(u *atomicStep, used *stepSet) (n int, ok bool) {
	if l.endless(u) && u.do != doFreeOwn && u.do != doFreeAny {
		return none, true
	}
	for n := range maxOpen {
		if !used.has(n) {
			used.add(n)
			return n, true
		}
	}
	return none, false
}

// visit adds a position to the search, unless it was visited before. It first skips the returns of steps that have
// taken effect.
func (l *linearizer) visit(at node) {
	for at.ask < len(l.asks) {
		a := &l.asks[at.ask]
		for _, w := range a.open {
			if w.number != none && l.p.observe(at.state, w.atomicStep) {
				at.done.add(w.number)
			}
		}
		if a.asked == none || !at.done.has(a.open[a.asked].number) {
			break
		}
		at.done.remove(a.open[a.asked].number)
		at.ask++
	}
	if _, was := l.seen[at]; !was {
		l.seen[at] = struct{}{}
		l.todo = append(l.todo, at)
	}
}

// expand tries each atomic step under way that can take effect next. It adds their positions such that the step that is
// asked for is tried first. It reports false if the steps are used up.
func (l *linearizer) expand(at *node) bool {
	a := &l.asks[at.ask]
	if a.asked == none {
		return true
	}
	for i := len(a.open) - 1; i >= 0; i-- {
		if i != a.asked && !l.step(at, a.open[i]) {
			return false
		}
	}
	return l.step(at, a.open[a.asked])
}

// step carries out one atomic step at a position, if the state allows it. It reports false if the steps are used up.
func (l *linearizer) step(at *node, w wait) bool {
	if w.observes() || at.done.has(w.number) {
		return true
	}
	if *l.steps == 0 {
		return false
	}
	*l.steps--
	state, ok := l.p.apply(at.state, w.atomicStep)
	if !ok || w.number == none && state == at.state {
		return true
	}
	next := node{ask: at.ask, done: at.done, state: state}
	if w.number != none {
		next.done.add(w.number)
	}
	l.visit(next)
	return true
}

// observes reports whether an atomic step only observes, so that it never changes the state.
func (u *atomicStep) observes() bool {
	switch u.do {
	case doFull, doBusy, doHeld, doHeldOwn, doCount, doVacant, doFail:
		return true
	}
	return false
}
