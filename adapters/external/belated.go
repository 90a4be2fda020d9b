package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Some actions are drawn long before it is known when they make a difference, and wait for their moment: [scenario.Action] says
// of which they are late. They are recorded when they happen, as actions like any other, so that nothing waits in a replay.
//
// One is that the time of a client is up that waits for the lock. One that waits for the reply to each of its commands looks at
// its clock only when it goes on, and its time may be up while the broker grants it the lock: it has it then, and may say that
// it has not. One that waits to be sent it may be sent it when its time is up, and has not told the broker yet. The other is that
// a client loses what it holds by when it is about to release it, and releases it after others have had the lock: it may take that
// from them. Where its process uses another lock as well, it releases it once the process has got that: it may take the one for
// the other. And one that is told at once that its connections are gone may connect again by itself, and claim what others have
// had meanwhile: that happens when it is about to verify what it holds.

// standsStill is for how many virtual milliseconds who has lost what it is about to release or to verify lets others go first: as
// many steps, in which they acquire and release it once or twice.
const standsStill = 32

// belated are the actions that wait for their moment.
type belated struct {
	timeUp bool
	losses [lock.MaxClients]scenario.Action
}

// precede does what comes before an action that was chosen: one that waits for its moment is put aside, what has waited for this one
// happens, and a client that is to go on in a replay is waited for. It reports whether the action is not to happen now.
func (r *run) precede(a scenario.Action) (instead bool, err error) {
	if r.postpone(a) {
		return true, nil
	}
	if instead, err = r.belate(a); instead || err != nil {
		return instead, err
	}
	return false, r.rouse(a)
}

// postpone reports whether an action is one that has to wait, or time that would pass for nobody.
func (r *run) postpone(a scenario.Action) bool {
	switch {
	case a.Kind == scenario.Advance && a.Arg == 0 && r.sc.Schedule.Strategy != scenario.Replay:
		r.belated.timeUp = r.belated.timeUp || a.Late
		late, waiting := r.held()
		return a.Late || len(late)+len(waiting) == 0 && !r.hangs()
	case a.Late && (a.Kind == scenario.ChannelError || a.Kind == scenario.Drop || a.Kind == scenario.Arrive):
		a.Late = false
		r.belated.losses[a.Client-1] = a
		return true
	}
	return false
}

// belate has happen what has waited for the moment just before an action. It reports whether that is not to happen now.
func (r *run) belate(a scenario.Action) (instead bool, err error) {
	if a.Kind != scenario.Step {
		return false, nil
	}
	p := &r.clients[a.Client-1]
	loss := &r.belated.losses[a.Client-1]
	switch {
	case loss.Kind != scenario.NoAction && r.isAboutTo(p, losesBefore(loss.Kind)):
		all := []scenario.Action{r.which(*loss)}
		if loss.Kind == scenario.Arrive {
			all = []scenario.Action{{Kind: scenario.Drop, Client: a.Client}, *loss}
		}
		*loss = scenario.Action{}
		if r.waitsForOther(p) {
			p.wake = r.now + standsStill
		} else {
			all = append(all, scenario.Action{Kind: scenario.Pause, Client: a.Client, Arg: standsStill})
		}
		return true, r.inTurn(all...)
	case r.belated.timeUp && (r.mayBeGranted(p) || r.givesTo(p)):
		err := r.inTurn(scenario.Action{Kind: scenario.Advance})
		return err == nil && !r.Can(a), err
	}
	return false, nil
}

// isAboutTo reports whether a client that holds something does an operation next.
func (r *run) isAboutTo(p *clientState, op lock.Op) bool {
	return !p.busy && p.held > 0 && r.upcoming(p, p.id) && r.sc.Clients[p.id-1].Ops[p.next].Op == op
}

// givesTo reports whether a client is releasing what others wait for: they may be sent it when their time is up.
func (r *run) givesTo(p *clientState) bool {
	if !r.isAboutTo(p, lock.Release) && !(p.busy && p.op == lock.Release) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.clients, func(o clientState) bool { return o.asleep && o.lulled() && r.lockOf(o.id) == r.lockOf(p.id) })
}

// losesBefore is what a client is about to do when it loses what it holds.
func losesBefore(loss scenario.ActionKind) lock.Op {
	if loss == scenario.Arrive {
		return lock.Verify
	}
	return lock.Release
}

// waitsForOther reports whether the process of a client has yet to acquire another lock.
func (r *run) waitsForOther(p *clientState) bool {
	acquires := func(op scenario.Operation) bool { return op.Op == lock.Acquire }
	return slices.ContainsFunc(r.playing(p.clientHandle), func(o *clientState) bool {
		return o != p && o.held == 0 && (o.busy && o.op == lock.Acquire || slices.ContainsFunc(r.sc.Clients[o.id-1].Ops[o.next:], acquires))
	})
}

// otherGranted has those go on who wait for what their process has got now.
func (r *run) otherGranted(p *clientState) {
	for _, o := range r.playing(p.clientHandle) {
		if o != p && !o.paused {
			o.wake = min(o.wake, r.now)
		}
	}
}

// inTurn carries out actions one after the other.
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

// aboutToBeGranted are the clients that may be granted the lock by their next command, and were told how long to wait for it,
// with where they stand.
func (r *run) aboutToBeGranted() map[*clientState]rest {
	all := make(map[*clientState]rest)
	for i := range r.clients {
		if p := &r.clients[i]; r.mayBeGranted(p) {
			all[p] = p.stands()
		}
	}
	return all
}

// mayBeGranted reports whether the next command of a client that was told how long to wait for the lock may grant it one that
// is free.
func (r *run) mayBeGranted(p *clientState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.mayRunOut() && r.truth[r.lockOf(p.id)].Free() != 0 && r.grants(p.parked[0])
}

// grants reports whether a command is one by which locks of the design are had.
func (r *run) grants(cmd *wire.Command) bool {
	switch m := cmd.Method.(type) {
	case *frame.QueueDeclare:
		mean := r.names.mean(r.model(cmd, cmd.Channel).Queue)
		return r.design.Holding == recognise.ByQueue && !m.Passive && mean.Known && (mean.Role == backend.Holder || mean.Role == backend.Mutex)
	case *frame.BasicGet:
		return r.design.Holding == recognise.ByMessage
	case *frame.BasicConsume:
		return r.design.Channels()
	}
	return false
}
