package foreign

import (
	"fmt"

	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// explorer is the path of the execution at hand, and what is left to try on it.
type explorer struct {
	naive       bool
	faults      sim.FaultBounds
	preemptions *int
	path        []*node
	depth       int
	cut         bool // nothing new was left to do
	astray      bool // a client did not do what it did before
	shared      bool // clients share a connection
	ordered     bool // the order of messages counts
	unsupported unsupported
}

// node is a state on the path, and what was chosen there.
type node struct {
	options       []option
	enabled, todo actors
	done          map[option]bool
	asleep        map[option]label // whose executions were seen
	chosen        option
	at            int   // index of the step among those of the execution
	label         label // of what was chosen, once it was carried out
	known         bool
}

// missing is why an execution does not stand for all that are equivalent to it, or others like it are not
// visited; "" where neither is so.
func (e *explorer) missing(x *Execution) string {
	switch {
	case !x.Uncontrolled.Free():
		return "clients did things that no schedule decides"
	case e.shared:
		return "clients share a connection, which keeps their commands in the order in which they were written"
	case e.astray:
		return "a client did something else than before in the same situation"
	case len(x.Steps) >= scenario.MaxSteps:
		return fmt.Sprintf("an execution is longer than %d steps", scenario.MaxSteps)
	case e.naive:
		return ""
	}
	return e.unsupported.why()
}

// Next implements chooser: the path again, and then on.
func (e *explorer) Next(w scenario.World) (scenario.Action, bool) {
	r := w.(*run)
	for {
		n := e.next(r)
		switch {
		case n == nil || n.chosen.ends():
			return scenario.Action{}, false
		case !n.chosen.rest:
			return n.chosen.Action, true
		}
	}
}

// next is the next state of the path, with what is chosen there; nil where the execution has come to its end.
func (e *explorer) next(r *run) *node {
	if e.depth < len(e.path) {
		n := e.path[e.depth]
		if e.astray = e.astray || n.at != len(r.record.Steps) || !n.chosen.possible(r); e.astray {
			return nil
		}
		e.depth++
		return n
	}
	n := e.arrive(r)
	if len(n.options) == 0 || len(e.path) == scenario.MaxSteps {
		return nil
	}
	first, ok := n.left(^actors(0))
	if !ok {
		e.cut = true
		return nil
	}
	n.chosen = first
	if n.todo = n.enabled; !e.naive {
		n.todo = first.actor()
	}
	e.path = append(e.path, n)
	e.depth++
	return n
}

// arrive is the state in which the path has come to its end.
func (e *explorer) arrive(r *run) *node {
	n := &node{done: make(map[option]bool), asleep: make(map[option]label), at: len(r.record.Steps)}
	n.options = e.options(r)
	for _, o := range n.options {
		n.enabled |= o.actor()
	}
	if len(e.path) == 0 || e.naive {
		return n
	}
	last := e.path[len(e.path)-1]
	e.note(last, last.labelled(r.record.Steps, &r.record, len(r.clients), e.ordered))
	for o, l := range last.asleep {
		if !depend(&l, &last.label) {
			n.asleep[o] = l
		}
	}
	return n
}

// labelled is the label of what was chosen in a state.
func (n *node) labelled(steps []scenario.TraceStep, rec *record, clients int, ordered bool) label {
	if n.chosen.rest {
		return label{client: n.chosen.Client, rests: true}
	}
	return labelOf(steps, n.at, rec.Events, clients, ordered)
}

// left is an option of one of some actors that was not tried and needs not be left out. Faults come last.
func (n *node) left(of actors) (option, bool) {
	for _, faulty := range []bool{false, true} {
		for _, o := range n.options {
			if _, asleep := n.asleep[o]; o.faulty() == faulty && of&o.actor() != 0 && !asleep && !n.done[o] {
				return o, true
			}
		}
	}
	return option{}, false
}

// note notes what a step was. The same step is the same whenever it is taken, or somebody did something
// that nobody told him to.
func (e *explorer) note(n *node, l label) {
	e.astray = e.astray || n.known && n.label != l
	n.label, n.known = l, true
}

// beginsAnew forgets the path if the order of messages has turned out to count.
func (e *explorer) beginsAnew() bool {
	if e.naive || e.ordered == e.unsupported.ordered {
		return false
	}
	e.ordered, e.path = true, nil
	return true
}

// learn finds out from an execution which steps might as well have come in another order, and has that
// tried.
func (e *explorer) learn(x *Execution) {
	e.unsupported.look(x.Steps)
	rec := record{Record: execution.Record{Events: x.History.Events}}
	for i, n := range e.path {
		if n.at >= len(x.Steps) && !n.chosen.rest {
			e.astray = true
			return
		}
		e.note(e.path[i], n.labelled(x.Steps, &rec, x.Clients(), e.ordered))
	}
	if e.naive {
		return
	}
	before := e.order()
	for i := range e.path {
		for j := i - 1; j >= 0; j-- {
			if e.path[j].chosen.actor() != e.path[i].chosen.actor() && depend(&e.path[j].label, &e.path[i].label) && e.race(before, j, i) {
				e.reverse(before, j, i)
			}
		}
	}
}

// order says of every two steps whether the first had to come before the second.
func (e *explorer) order() [][]bool {
	before := make([][]bool, len(e.path))
	for i := range e.path {
		before[i] = make([]bool, len(e.path))
	}
	for i := range e.path {
		for j := i - 1; j >= 0; j-- {
			if before[j][i] || !depend(&e.path[j].label, &e.path[i].label) {
				continue
			}
			before[j][i] = true
			for k := range j {
				before[k][i] = before[k][i] || before[k][j]
			}
		}
	}
	return before
}

// race reports whether nothing between two steps had to come between them, and the second could have been without the
// first: not the broker noticing what the first has made.
func (e *explorer) race(before [][]bool, j, i int) bool {
	first, second := e.path[j], e.path[i]
	if second.chosen.Kind == scenario.Detect && first.chosen.Client == second.chosen.Client && first.enabled&second.chosen.actor() == 0 {
		return false
	}
	for k := j + 1; k < i; k++ {
		if before[j][k] && before[k][i] {
			return false
		}
	}
	return true
}

// reverse has step i tried before step j: by its actor, or by one whose steps lead to it.
func (e *explorer) reverse(before [][]bool, j, i int) {
	n, actor := e.path[j], e.path[i].chosen.actor()
	leads := actor
	for k := j + 1; k < i; k++ {
		if before[k][i] {
			leads |= e.path[k].chosen.actor()
		}
	}
	switch leads &= n.enabled; {
	case leads&n.todo != 0:
	case leads&actor != 0:
		n.todo |= actor
	case leads != 0:
		n.todo |= leads & -leads
	default:
		n.todo |= n.enabled
	}
}

// backtrack goes back to the last state at which something is left to try, and reports whether there is
// one.
func (e *explorer) backtrack() bool {
	for len(e.path) > 0 {
		n := e.path[len(e.path)-1]
		n.done[n.chosen] = true
		if !e.naive {
			n.asleep[n.chosen] = n.label
		}
		if next, ok := n.left(n.todo); ok {
			n.chosen, n.known = next, false
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}
