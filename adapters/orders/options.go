package orders

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// option is something that can happen in a state: an action or, if rest is true, the choice that a client rests. Only a
// client that cannot take a step now may rest. No fault affects it before it can take a step again. A rest with client
// 0 ends the execution.
type option struct {
	scenario.Action
	rest bool
	// before is set only for an action that lets time pass. It is the client that takes its next step after this time;
	// 0 for other actions.
	before uint8
}

// actors is a bit set of actors: clients and, for each client, the broker's detection that the client is gone. All
// options of one actor in a state are variants of its next step.
type actors uint32

func (o option) actor() actors {
	if o.Kind == scenario.Detect {
		return 1 << (lock.MaxClients + o.Client)
	}
	return 1 << max(o.Client, o.before)
}

func (o option) ends() bool { return o.rest && o.Client == 0 }

// faulty reports whether the option's action is a fault.
func (o option) faulty() bool { return !o.rest && o.Kind != scenario.Step && o.Kind != scenario.Detect }

// steps reports whether the option includes a step of its client.
func (o option) steps() bool {
	return !o.rest && (o.Kind == scenario.Step || o.Kind == scenario.CrashEffect || o.Kind == scenario.Lose)
}

func (o option) possible(r World) bool { return o.rest || r.Can(o.Action) }

// options returns everything that can happen next.
func (e *Explorer) options(r World) (all []option) {
	left, rested := e.left()
	goes := false
	for i := range r.Clients() {
		c := uint8(i + 1)
		before := len(all)
		if detect := (option{Action: scenario.Action{Kind: scenario.Detect, Client: c}}); r.Can(detect.Action) {
			all = append(all, detect)
		}
		if e.mayStep(r, c) {
			all = e.steps(r, c, &left, all)
		}
		goes = goes || len(all) > before
		if ready := r.Ready(c); ready || !rested[i] {
			faults := e.mishaps(r, c, &left, nil)
			if possible := e.faults; !e.naive && !ready && possible.Crashes+possible.Drops > 0 && r.Vulnerable(c) {
				all = append(all, option{Action: scenario.Action{Client: c}, rest: true})
			}
			all = append(all, faults...)
		}
	}
	if e.naive && !goes && len(all) > 0 { // the execution may also end here
		all = append(all, option{rest: true})
	}
	return all
}

// left returns how many faults of each kind may still happen, given those on the path. rested marks the clients that
// rest at the path's end.
func (e *Explorer) left() (left sim.FaultBounds, rested [lock.MaxClients]bool) {
	left = e.faults
	for _, n := range e.path {
		switch o := n.chosen; {
		case o.rest && o.Client > 0:
			rested[o.Client-1] = true
			continue
		case o.steps():
			rested[o.Client-1] = false
		}
		switch n.chosen.Kind {
		case scenario.CrashBefore, scenario.CrashEffect:
			left.Crashes--
		case scenario.Drop:
			left.Drops--
		case scenario.ChannelError:
			left.ChannelErrors--
		case scenario.Lose:
			left.Lost--
		case scenario.Idle:
			left.Lapses--
		}
	}
	return left, rested
}

// mayStep reports whether client c can take a step and the bound on preemptions allows that.
func (e *Explorer) mayStep(r World, c uint8) bool {
	if !r.Ready(c) || e.preemptions == nil {
		return r.Ready(c)
	}
	used, last := 0, uint8(0)
	for _, n := range e.path {
		if !n.chosen.steps() {
			continue
		}
		if n.preempts(last) {
			used++
		}
		last = n.chosen.Client
	}
	return last == 0 || last == c || !r.Ready(last) || used < *e.preemptions
}

// preempts reports whether the node's choice is a preemption: client last could have taken another step, but another
// client takes one.
func (n *node) preempts(last uint8) bool {
	if last == 0 || last == n.chosen.Client {
		return false
	}
	for _, o := range n.options {
		if o.Client == last && o.steps() {
			return true
		}
	}
	return false
}

// steps appends the variants of a client's next step.
func (e *Explorer) steps(r World, c uint8, left *sim.FaultBounds, all []option) []option {
	all = append(all, option{Action: scenario.Action{Kind: scenario.Step, Client: c}})
	if left.Crashes > 0 && !left.CleanCrashes {
		all = append(all, option{Action: scenario.Action{Kind: scenario.CrashEffect, Client: c, Late: left.Late}})
	}
	if left.Lost > 0 {
		all = append(all, option{Action: scenario.Action{Kind: scenario.Lose, Client: c}})
	}
	if left.Lost > 0 && left.Late {
		all = append(all, option{Action: scenario.Action{Kind: scenario.Lose, Client: c, Late: true}})
	}
	return all
}

// mishaps appends the faults that can affect a client between two steps.
func (e *Explorer) mishaps(r World, c uint8, left *sim.FaultBounds, all []option) []option {
	if !r.Vulnerable(c) {
		return all
	}
	if left.Lapses > 0 && r.Ready(c) {
		all = append(all, option{Action: scenario.Action{Kind: scenario.Idle, Arg: sim.PastLease}, before: c})
	}
	if left.Crashes > 0 {
		all = append(all, option{Action: scenario.Action{Kind: scenario.CrashBefore, Client: c, Late: left.Late}})
	}
	open := r.Open(c)
	if left.Drops > 0 && open == 1 {
		all = append(all, option{Action: scenario.Action{Kind: scenario.Drop, Client: c}})
	}
	for which := 1; left.Drops > 0 && open > 1 && which <= open; which++ {
		all = append(all, option{Action: scenario.Action{Kind: scenario.Drop, Client: c, Arg: uint32(which)}})
	}
	if left.ChannelErrors > 0 && open > 0 && r.Ready(c) {
		all = append(all, option{Action: scenario.Action{Kind: scenario.ChannelError, Client: c}})
	}
	return all
}
