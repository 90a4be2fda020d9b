package foreign

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Some faults are drawn before it is known when they matter. A fault that is late waits for its moment: see
// [scenario.Action]. It is recorded when it happens, as one or two ordinary actions, so nothing waits in a replay.

// standsStill is the number of virtual milliseconds for which a client that has lost its connection lets the others go
// first. This is the number of steps that the others have, which is enough to acquire and to release. If the lock has
// leases, [scenario.Asleep] passes before, as the hold ends with its lease.
const standsStill = 32

// belated are the actions that wait for their moment.
type belated struct {
	timeUp bool                             // time passes
	faults [lock.MaxClients]scenario.Action // at most one for each client
}

// precede puts action a aside if it has to wait for its moment. Otherwise it carries out what has waited for the moment
// just before a. It reports whether a is not to happen now.
func (r *run) precede(a scenario.Action) (instead bool, err error) {
	if r.postpone(a) {
		return true, nil
	}
	if a.Kind != scenario.Step {
		return false, nil
	}
	p := &r.clients[a.Client-1]
	if r.belated.timeUp && r.mayBeGranted(p) {
		r.belated.timeUp = false
		return true, r.inTurn(scenario.Action{Kind: scenario.Advance})
	}
	return r.falter(p)
}

// left is the number of actions that still wait for their moment.
func (b *belated) left() (n int) {
	if b.timeUp {
		n++
	}
	for _, a := range b.faults {
		if a.Kind != scenario.NoAction {
			n++
		}
	}
	return n
}

// postpone puts action a aside if it is late, and reports whether it did. It replaces the action that waits in the same
// place, which then counts as one that was not played.
func (r *run) postpone(a scenario.Action) bool {
	if !a.Late || r.sc.Schedule.Strategy == scenario.Replay {
		return false
	}
	before := r.belated.left()
	switch a.Kind {
	case scenario.Advance:
		r.belated.timeUp = true
	case scenario.ChannelError, scenario.Drop, scenario.Arrive, scenario.Pause:
		a.Late = false
		r.belated.faults[a.Client-1] = a
	default:
		return false
	}
	if r.belated.left() == before {
		r.uncontrolled.Unplayed++
	}
	return true
}

// mayBeGranted reports whether the next command of client p, which waits for the lock, may have the lock granted: no
// other client holds it.
func (r *run) mayBeGranted(p *clientState) bool {
	for i := range r.clients {
		if o := &r.clients[i]; o.id != p.id && o.held > 0 && r.lockOf(o.id) == r.lockOf(p.id) {
			return false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.busy && p.calling && p.mayWait() && len(p.parked) > 0
}

// falter carries out the late fault of client p if this is its moment, and reports whether it did. If the first action
// of the fault is not possible, none is carried out: the others only matter after it.
func (r *run) falter(p *clientState) (did bool, err error) {
	fault := r.belated.faults[p.id-1]
	if fault.Kind == scenario.NoAction || !r.isAboutTo(p, fault.Kind) {
		return false, nil
	}
	r.belated.faults[p.id-1] = scenario.Action{}
	all := r.faltering(p, fault)
	if !r.Can(all[0]) {
		r.uncontrolled.Unplayed++
		return false, nil
	}
	return true, r.inTurn(all...)
}

// faltering are the actions of the late fault of client p.
func (r *run) faltering(p *clientState, fault scenario.Action) []scenario.Action {
	pause := scenario.Action{Kind: scenario.Pause, Client: p.id, Arg: standsStill}
	switch {
	case fault.Kind == scenario.Arrive:
		return []scenario.Action{{Kind: scenario.Drop, Client: p.id}, fault, pause}
	case fault.Kind == scenario.Pause:
		return sleeps(p.id, fault.Arg)
	case r.about.Leases: // the hold ends with its lease, not with the connection
		return []scenario.Action{r.which(fault), {Kind: scenario.Idle, Arg: scenario.Asleep / 1000}, pause}
	default:
		return []scenario.Action{r.which(fault), pause}
	}
}

// sleeps are the actions in which client c does nothing for so long that whatever it would have to renew ends. arg is
// [scenario.Asleep], the seconds in which the client may notice this before it goes on, and the steps that others have
// first.
func sleeps(c uint8, arg uint32) []scenario.Action {
	pause, idle := scenario.Action{Kind: scenario.Pause, Client: c, Arg: scenario.Asleep}, scenario.Action{Kind: scenario.Idle, Arg: scenario.Asleep / 1000}
	notices, steps := (arg-scenario.Asleep)/1000, arg%1000
	if notices == 0 {
		pause.Arg += steps
		return []scenario.Action{pause, idle}
	}
	return []scenario.Action{pause, idle, {Kind: scenario.Idle, Arg: notices}, {Kind: scenario.Pause, Client: c, Arg: steps}}
}

// isAboutTo reports whether client p holds its lock, and begins next the operation before which a late fault happens.
func (r *run) isAboutTo(p *clientState, fault scenario.ActionKind) bool {
	if p.busy || p.held == 0 || !r.upcoming(p, p.id) {
		return false
	}
	switch op := r.sc.Clients[p.id-1].Ops[p.next].Op; fault {
	case scenario.Arrive:
		return op == lock.Verify
	case scenario.Pause:
		return op == lock.Release || op.AsksHeld()
	default:
		return op == lock.Release
	}
}

// inTurn carries out actions one after the other, and leaves out those that are not possible.
func (r *run) inTurn(all ...scenario.Action) error {
	for _, a := range all {
		if !r.Can(a) {
			continue
		}
		if err := r.happen(a); err != nil {
			return err
		}
		if err := r.settle(); err != nil {
			return err
		}
		r.finish()
	}
	return nil
}
