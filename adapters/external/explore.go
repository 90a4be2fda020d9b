package external

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"

	"github.com/lockproof/lockproof/model/scenario"
)

// Exploration is what visiting the schedules of a scenario came to.
type Exploration struct {
	Runs    int // whole executions
	Blocked int // runs that ended early, since all that they could come to had been seen
	// Incomplete says why not every schedule was visited, or one that is equivalent to it; "" is all were.
	Incomplete string
}

// ExploreOptions bound an exploration.
type ExploreOptions struct {
	Runs  int  // at most so many, those that end early among them; at least 1
	Naive bool // every order of commands, equivalent or not
}

// Explore visits the schedules of a scenario depth-first, with no memory but that of the path, by dynamic
// partial order reduction (Flanagan and Godefroid, POPL 2005) with sleep sets: of executions that differ
// only in the order of steps that don't depend on each other, it visits one. Faults are not part of it.
//
// Steps depend on each other if they are one client's; if they are about the same queue, unless both
// publish or both declare passively; if both touch queues in administrative operations; if one ends a connection,
// or does what is not known; and if one ends an operation, makes a queue or deletes one, and the other does
// one of these or begins an operation. The last is what properties look at: they are judged by what the broker
// has from the beginning of an operation to its end, and by which was over before which began. So whatever
// properties an execution violates, one that is visited violates as well.
//
// It is complete if every client did the same whenever it was told the same, and nothing by itself, and if
// nothing depended on what the reduction does not look at; [Exploration.Incomplete] says if that was seen.
//
// visit may use the runner for other runs. Its error ends the exploration.
func (s *Runner) Explore(ctx context.Context, sc scenario.Scenario, o ExploreOptions, visit func(*Execution) error) (*Exploration, error) {
	sc.Faults, sc.Schedule = nil, scenario.Schedule{Strategy: scenario.Replay}
	e := explorer{naive: o.Naive}
	sum := new(Exploration)
	for more := true; more; more = e.backtrack() {
		if sum.Runs+sum.Blocked == o.Runs {
			sum.Incomplete = cmp.Or(sum.Incomplete, fmt.Sprintf("only %d runs were allowed", o.Runs))
			return sum, nil
		}
		x, err := s.follows(ctx, &sc, &e, sum.Incomplete == "")
		if err != nil {
			return sum, err
		}
		e.learn(x)
		e.shared = s.Sharing()
		sum.Incomplete = cmp.Or(sum.Incomplete, e.missing(x))
		if e.cut {
			sum.Blocked++
			continue
		}
		sum.Runs++
		if err := visit(x); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// raceTries is how often an execution is carried out in which clients did what no schedule decides.
const raceTries = 4

// follows carries out the execution of a path: again, as that may be chance on a busy machine, if clients did what no
// schedule decides and nothing is violated.
func (s *Runner) follows(ctx context.Context, sc *scenario.Scenario, e *explorer, again bool) (x *Execution, err error) {
	for range raceTries {
		e.depth, e.cut = 0, false
		s.listen(e.onCommand)
		x, err = s.play(ctx, sc, e)
		s.listen(nil)
		if err != nil || !again || x.Uncontrolled.Free() || x.Found != 0 {
			break
		}
	}
	return x, err
}

// explorer is the path of the execution at hand, and what is left to try on it.
type explorer struct {
	naive       bool
	path        []*node
	depth       int
	cut         bool // nothing new was left to do
	astray      bool // a client did not do what it did before
	shared      bool // clients share a connection
	unsupported unsupported
}

// node is a state on the path, and the step that was chosen there. Sets of clients are bits.
type node struct {
	enabled, todo, done uint16
	asleep              map[uint8]label // steps whose executions were seen, by client
	chosen              uint8
	at                  int   // index of the step among those of the execution
	label               label // of the step chosen, once it was taken
	known               bool
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
	if e.depth < len(e.path) {
		n := e.path[e.depth]
		if e.astray = e.astray || n.at != len(r.record.steps) || !r.Ready(n.chosen); e.astray {
			return scenario.Action{}, false
		}
		e.depth++
		return scenario.Action{Kind: scenario.Step, Client: n.chosen}, true
	}
	n := e.arrive(r)
	if n.enabled == 0 || len(e.path) == scenario.MaxSteps {
		return scenario.Action{}, false
	}
	if n.todo == 0 {
		e.cut = true
		return scenario.Action{}, false
	}
	n.chosen = uint8(bits.TrailingZeros16(n.todo))
	if !e.naive {
		n.todo = 1 << n.chosen
	}
	e.path = append(e.path, n)
	e.depth++
	return scenario.Action{Kind: scenario.Step, Client: n.chosen}, true
}

// arrive is the state in which the path has come to its end.
func (e *explorer) arrive(r *run) *node {
	n := &node{asleep: make(map[uint8]label), at: len(r.record.steps)}
	for c := range r.clients {
		if r.Ready(uint8(c + 1)) {
			n.enabled |= 1 << (c + 1)
		}
	}
	if len(e.path) > 0 && !e.naive {
		last := e.path[len(e.path)-1]
		e.note(last, labelOf(r.record.steps, last.at, r.record.events, len(r.clients)))
		for c, l := range last.asleep {
			if !depend(&l, &last.label) {
				n.asleep[c] = l
			}
		}
	}
	n.todo = n.enabled &^ n.sleepers()
	return n
}

func (n *node) sleepers() (set uint16) {
	for c := range n.asleep {
		set |= 1 << c
	}
	return set
}

// note notes what a step was. The same step is the same whenever it is taken, or somebody did something
// that nobody told him to.
func (e *explorer) note(n *node, l label) {
	e.astray = e.astray || n.known && n.label != l
	n.label, n.known = l, true
}

// learn finds out from an execution which steps might as well have come in another order, and has that
// tried.
func (e *explorer) learn(x *Execution) {
	e.unsupported.look(x.Steps)
	for i, n := range e.path {
		if n.at >= len(x.Steps) {
			e.astray = true
			return
		}
		e.note(e.path[i], labelOf(x.Steps, n.at, x.History.Events, len(x.Scenario.Clients)))
	}
	if e.naive {
		return
	}
	before := e.order()
	for i := range e.path {
		for j := i - 1; j >= 0; j-- {
			if e.path[j].chosen != e.path[i].chosen && depend(&e.path[j].label, &e.path[i].label) && e.race(before, j, i) {
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

// race reports whether nothing between two steps had to come between them.
func (e *explorer) race(before [][]bool, j, i int) bool {
	for k := j + 1; k < i; k++ {
		if before[j][k] && before[k][i] {
			return false
		}
	}
	return true
}

// reverse has step i tried before step j: by its client, or by one whose steps lead to it.
func (e *explorer) reverse(before [][]bool, j, i int) {
	n := e.path[j]
	leads := uint16(1) << e.path[i].chosen
	for k := j + 1; k < i; k++ {
		if before[k][i] {
			leads |= 1 << e.path[k].chosen
		}
	}
	switch leads &= n.enabled; {
	case leads&n.todo != 0:
	case leads&(1<<e.path[i].chosen) != 0:
		n.todo |= 1 << e.path[i].chosen
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
		n.done |= 1 << n.chosen
		if !e.naive {
			n.asleep[n.chosen] = n.label
		}
		if left := n.todo &^ n.done &^ n.sleepers(); left != 0 {
			n.chosen, n.known = uint8(bits.TrailingZeros16(left)), false
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}
