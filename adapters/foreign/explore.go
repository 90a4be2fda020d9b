package foreign

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
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
	// Faults are how many of each kind one execution may have: the broker does not restart in an exploration.
	Faults sim.FaultBounds
	// Preemptions is how often an execution may turn from a client that could go on to another; nil is any number. What
	// befalls clients does not count. Every order is visited then, as is by Naive: with such a bound, an execution may be
	// within it and none of those that are equivalent to it.
	Preemptions *int
}

// Explore visits the schedules of a scenario depth-first, with no memory but that of the path, by dynamic
// partial order reduction (Flanagan and Godefroid, POPL 2005) with sleep sets: of executions that differ
// only in the order of independent steps, it visits one.
//
// Faults are choices as well. A client may, instead of taking its next step, die before or after its effect, lose its
// connection, a channel or the reply; one that is done, or waits, may die or lose its connection then, or never. When
// the broker notices that a client is gone is a step of its own, which has to come. So each fault is placed before and
// after each step that it depends on, which is every one but for channels: those are their client's alone.
//
// Steps depend on each other if they are one client's; if they are about the same queue, unless both
// publish or both declare passively; if both touch queues in administrative operations; if one ends a connection,
// or does what is not known; and if one ends an operation, makes a queue or deletes one, and the other does
// one of these or begins an operation. The last is what properties look at: they are judged by what the broker
// has from the beginning of an operation to its end, and by which was over before which began. So whatever
// properties an execution violates, one that is visited violates as well.
//
// As soon as a message is taken, or one is refused where others are not, all begins anew: from then on whatever sends messages, takes
// them, gives them back or deletes queues depends on all steps, as anybody may be told of it, whatever he does.
//
// It is complete if every client always did the same after the same answers, did nothing by itself, and depended on nothing
// that the reduction ignores; [Exploration.Incomplete] says if it was seen that this does not hold.
//
// visit may use the runner for other runs. Its error ends the exploration.
func (s *Runner) Explore(ctx context.Context, sc scenario.Scenario, o ExploreOptions, visit func(*Execution) error) (*Exploration, error) {
	sc.Faults, sc.Schedule = nil, scenario.Schedule{Strategy: scenario.Replay}
	e := explorer{naive: o.Naive || o.Preemptions != nil, faults: o.Faults, preemptions: o.Preemptions}
	sum := new(Exploration)
	s.exploring = true
	defer func() { s.exploring = false }()
	for more := true; more; more = e.backtrack() {
		if sum.Runs+sum.Blocked >= o.Runs {
			sum.Incomplete = cmp.Or(sum.Incomplete, fmt.Sprintf("only %d runs were allowed", o.Runs))
			return sum, nil
		}
		x, err := s.follows(ctx, &sc, &e, sum.Incomplete == "")
		if err == nil && e.beginsAnew() {
			sum.Blocked++
			x, err = s.follows(ctx, &sc, &e, sum.Incomplete == "")
		}
		if err != nil {
			return sum, err
		}
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

// follows carries out the execution of a path, and learns from it. It is carried out again if clients did what no schedule decides and
// nothing is violated, as that may be chance on a busy machine.
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
	if err == nil {
		e.learn(x)
	}
	return x, err
}
