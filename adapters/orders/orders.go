// Package orders visits the orders in which the commands of somebody else's clients can reach a broker: path.go is the path of the
// execution at hand and what is left to try on it, options.go what can happen next, label.go which steps depend on one another,
// unsupported.go what clients did that this does not know well enough.
package orders

import (
	"cmp"
	"fmt"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// World is an execution that is under way.
type World interface {
	scenario.World
	// Can reports whether an action is possible now.
	Can(scenario.Action) bool
	// Clients is how many clients the scenario has.
	Clients() int
	// Recorded is what has happened by now.
	Recorded() ([]scenario.TraceStep, []history.Event)
	// Vulnerable reports whether it makes a difference what befalls a client.
	Vulnerable(client uint8) bool
	// Open is how many connections a client has.
	Open(client uint8) int
}

// Played is what an execution came to.
type Played struct {
	*scenario.Trace
	Free   bool // the schedule decided all that was to be decided
	Shared bool // clients share a connection
	Found  property.Set
}

// Exploration is what visiting the schedules of a scenario came to.
type Exploration struct {
	Runs    int // whole executions
	Blocked int // runs that ended early, since all that they could come to had been seen
	// Incomplete says why not every schedule was visited, or one that is equivalent to it; "" is all were.
	Incomplete string
}

// Options bound an exploration.
type Options struct {
	Runs  int  // at most so many, those that end early among them; at least 1
	Naive bool // every order of commands, equivalent or not
	// Faults are how many of each kind one execution may have: the broker does not restart in an exploration.
	Faults sim.FaultBounds
	// Preemptions is how often an execution may turn from a client that could go on to another; nil is any number. What
	// befalls clients does not count. Every order is visited then, as is by Naive: with such a bound, an execution may be
	// within it and none of those that are equivalent to it.
	Preemptions *int
}

// New visits orders within some bounds. Its Next chooses what happens in an execution, and OnCommand is told what passes while the
// gate is open.
func New(o Options) *Explorer {
	return &Explorer{naive: o.Naive || o.Preemptions != nil, faults: o.Faults, preemptions: o.Preemptions, runs: o.Runs}
}

// Visit visits the schedules of a scenario depth-first, with no memory but that of the path, by dynamic
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
func (e *Explorer) Visit(play func() (Played, error), visit func() error) (*Exploration, error) {
	sum := new(Exploration)
	for more := true; more; more = e.backtrack() {
		if sum.Runs+sum.Blocked >= e.runs {
			sum.Incomplete = cmp.Or(sum.Incomplete, fmt.Sprintf("only %d runs were allowed", e.runs))
			return sum, nil
		}
		x, err := e.follow(play, sum.Incomplete == "")
		if err == nil && e.beginsAnew() {
			sum.Blocked++
			x, err = e.follow(play, sum.Incomplete == "")
		}
		if err != nil {
			return sum, err
		}
		sum.Incomplete = cmp.Or(sum.Incomplete, e.missing(&x))
		if e.cut {
			sum.Blocked++
			continue
		}
		sum.Runs++
		if err := visit(); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// raceTries is how often an execution is carried out in which clients did what no schedule decides.
const raceTries = 4

// follow carries out the execution of a path, and learns from it. It is carried out again if clients did what no schedule decides and
// nothing is violated, as that may be chance on a busy machine.
func (e *Explorer) follow(play func() (Played, error), again bool) (x Played, err error) {
	for range raceTries {
		e.depth, e.cut = 0, false
		x, err = play()
		if err != nil || !again || x.Free || x.Found != 0 {
			break
		}
	}
	if err == nil {
		e.learn(&x)
	}
	return x, err
}

// Cut reports whether the last execution ended early, since all that it could come to had been seen.
func (e *Explorer) Cut() bool { return e.cut }
