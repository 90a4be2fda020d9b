package orders

import (
	"fmt"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Explorer holds the path of the current execution, and the options that are not tried yet at its states.
type Explorer struct {
	naive       bool
	faults      sim.FaultBounds
	preemptions *int
	path        []*node
	depth       int
	cut         bool // all continuations of this execution had been visited
	astray      bool // a client behaved differently from an earlier run of the same path
	runs        int
	ordered     bool // the order of messages matters
	unsupported unsupported
}

// node is a state on the path, and the option chosen there.
type node struct {
	options       []option
	enabled, todo actors
	done          map[option]bool
	asleep        map[option]label // sleep set: options whose executions have been visited
	chosen        option
	at            int   // index of the chosen step in the execution
	label         label // label of the chosen step, once it was carried out
	known         bool
}

// missing returns the reason why the exploration may miss executions, as this execution shows: for example, clients
// share a connection. It returns "" if this execution shows no such reason.
func (e *Explorer) missing(x *Played) string {
	switch {
	case !x.Free:
		return "clients did things that no schedule decides"
	case x.Shared:
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

// Next returns the next action: of the path while it lasts, after that a new one that extends the path. w must be a
// [World].
func (e *Explorer) Next(w scenario.World) (scenario.Action, bool) {
	r := w.(World)
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

// next returns the node of the next state on the path, with its choice. It returns nil at the end of the execution.
func (e *Explorer) next(r World) *node {
	if e.depth < len(e.path) {
		n := e.path[e.depth]
		steps, _ := r.Recorded()
		if e.astray = e.astray || n.at != len(steps) || !n.chosen.possible(r); e.astray {
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

// arrive returns a node for the new state at the end of the path.
func (e *Explorer) arrive(r World) *node {
	steps, events := r.Recorded()
	n := &node{done: make(map[option]bool), asleep: make(map[option]label), at: len(steps)}
	n.options = e.options(r)
	for _, o := range n.options {
		n.enabled |= o.actor()
	}
	if len(e.path) == 0 || e.naive {
		return n
	}
	last := e.path[len(e.path)-1]
	e.note(last, last.labelled(steps, events, r.Clients(), e.ordered))
	for o, l := range last.asleep {
		if !depend(&l, &last.label) {
			n.asleep[o] = l
		}
	}
	return n
}

// labelled returns the label of the node's chosen step.
func (n *node) labelled(steps []scenario.TraceStep, events []history.Event, clients int, ordered bool) label {
	if n.chosen.rest {
		return label{client: n.chosen.Client, rests: true}
	}
	return labelOf(steps, n.at, events, clients, ordered)
}

// left returns an option of one of the actors that is neither done nor in the sleep set, if there is one. Faults come
// last.
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

// note records the label of the node's step. If the step had another label in an earlier run, note also records
// that a client's behaviour is not reproducible.
func (e *Explorer) note(n *node, l label) {
	e.astray = e.astray || n.known && n.label != l
	n.label, n.known = l, true
}

// beginsAnew discards the path and returns true, if an execution has shown for the first time that the order of
// messages matters.
func (e *Explorer) beginsAnew() bool {
	if e.naive || e.ordered == e.unsupported.ordered {
		return false
	}
	e.ordered, e.path = true, nil
	return true
}

// learn finds the dependent steps of an execution that could have come in the other order, and schedules that order.
func (e *Explorer) learn(x *Played) {
	e.unsupported.look(x.Steps)
	for i, n := range e.path {
		if n.at >= len(x.Steps) && !n.chosen.rest {
			e.astray = true
			return
		}
		e.note(e.path[i], n.labelled(x.Steps, x.History.Events, x.Clients(), e.ordered))
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

// order returns, for every two steps, whether the first had to come before the second.
func (e *Explorer) order() [][]bool {
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

// race reports whether step j comes directly before step i in the partial order, and step i was also possible without
// step j. If step j makes a client go and step i is the broker's detection of that, race returns false.
func (e *Explorer) race(before [][]bool, j, i int) bool {
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

// reverse schedules step i before step j: by the actor of i or, if that cannot act in the state before j, by an actor
// whose steps lead to i.
func (e *Explorer) reverse(before [][]bool, j, i int) {
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

// backtrack shortens the path to the last state with an untried option, and chooses that option. It returns false if
// there is none.
func (e *Explorer) backtrack() bool {
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
