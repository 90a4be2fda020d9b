// Package orders visits the orders in which the commands of external clients can reach a broker. The path of the current
// execution, with the options still to be tried on it, is in path.go; the options of a state are in options.go; the
// dependences between steps are in label.go. Actions of clients that the reduction does not support are in unsupported.go.
package orders

import (
	"cmp"
	"fmt"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// World is an execution that is running, as the explorer sees it.
type World interface {
	scenario.World
	// Can reports whether an action is possible now.
	Can(scenario.Action) bool
	// Clients is the number of clients of the scenario.
	Clients() int
	// Recorded returns the steps and the history events so far.
	Recorded() ([]scenario.TraceStep, []history.Event)
	// Vulnerable reports whether a fault of the client would have an effect now.
	Vulnerable(client uint8) bool
	// Open returns the number of connections that the client has.
	Open(client uint8) int
}

// Played is the result of one execution.
type Played struct {
	*scenario.Trace
	Free   bool // the schedule decided all nondeterminism of the execution
	Shared bool // clients share a connection
	Found  property.Set
}

// Exploration is the result of visiting the schedules of a scenario.
type Exploration struct {
	Runs    int // number of complete executions
	Blocked int // number of runs that ended early, because all their continuations had been visited
	// Incomplete is the reason why the visit may miss a schedule and all schedules that are equivalent to it. It is ""
	// if the visit covers all.
	Incomplete string
}

// Options bound what an exploration visits.
type Options struct {
	Runs  int  // the maximum number of runs, including those that end early; at least 1
	Naive bool // visit every order of commands, including equivalent ones
	// Audits means that every execution is audited. Otherwise only the first of several executions with the same
	// result is audited.
	Audits bool
	// Faults is the maximum number of faults of each kind in one execution. The broker never restarts in an
	// exploration.
	Faults sim.FaultBounds
	// Preemptions is the maximum number of switches away from a client that could take another step; nil means no
	// maximum. Faults do not count as switches. With a maximum, the exploration visits every order within it, as with
	// Naive, since all equivalent orders may exceed the maximum.
	Preemptions *int
}

// New returns an explorer that visits orders within the bounds of o. Its Next method chooses what happens next in an
// execution. Its OnCommand method receives the commands that pass while the gate is open, those of the setup client.
func New(o Options) *Explorer {
	return &Explorer{naive: o.Naive || o.Preemptions != nil, faults: o.Faults, preemptions: o.Preemptions, runs: o.Runs}
}

// Visit visits the schedules of a scenario depth-first, and remembers only the current path. It uses dynamic partial order
// reduction (Flanagan and Godefroid, POPL 2005) with sleep sets: of executions that differ only in the order of independent
// steps, it visits one.
//
// Faults are choices as well. Instead of taking its next step, a client may die before or after the step's effect, or lose
// its connection, a channel or the reply. A client that is done, or waits, may die or lose its connection then, or never.
// The broker's detection that a client is gone is a separate step, which must happen. So each fault is placed before and
// after each step that it depends on. Those are all steps, except for faults of channels, which depend on their client's
// steps only.
//
// Steps of one client depend on each other. Steps about the same queue do, unless both publish or both declare passively.
// Two steps that touch queues in administrative operations do. A step that ends a connection, or does something unknown,
// depends on all others. Finally, call a step visible if it ends an operation, creates a queue or deletes one. It depends on
// the other visible steps and on those that begin an operation. Properties look at these steps: they are judged by the
// queues on the broker from an operation's beginning to its end, and by the order of operations that do not overlap. So if
// an execution violates a property, a visited one violates it as well.
//
// The visit restarts as soon as a message is taken, or some messages are refused and others are not. From then on, a step
// depends on all steps if it sends messages, takes them, returns them or deletes queues, as any client may be told of it,
// whatever that client does.
//
// The visit is complete if every client always did the same after the same answers, did nothing unasked, and depended on
// nothing that the reduction ignores. If an execution showed otherwise, [Exploration.Incomplete] says so.
//
// play carries out one execution. visit may use the runner for other runs; its error ends the exploration.
func (e *Explorer) Visit(play func() (Played, error), visit func() error) (*Exploration, error) {
	sum := new(Exploration)
	for more := true; more; more = e.backtrack() {
		if sum.Runs+sum.Blocked >= e.runs {
			sum.Incomplete = cmp.Or(sum.Incomplete, fmt.Sprintf("only %d executions were allowed", e.runs))
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

// raceTries is the maximum number of times that an execution is tried, if its clients do something that the schedule
// does not decide.
const raceTries = 4

// follow runs the execution of the current path, and learns from it which other orders to visit. If clients did
// something that the schedule does not decide, and no property was violated, follow runs it again, as that may be
// chance on a busy machine.
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

// Cut reports whether the last execution ended early, because all its continuations had been visited.
func (e *Explorer) Cut() bool { return e.cut }
