package sim

import (
	"github.com/lockproof/lockproof/model/scenario"
)

// schedule chooses what happens next: faults when they are due, otherwise the next command of
// a client that the strategy picks.
type schedule struct {
	s        *scenario.Scenario
	step     int
	choice   int // choices used so far
	change   int // priority changes so far
	replayed int
	done     uint64 // faults that have happened
	detect   [scenario.MaxClients]int
	priority [scenario.MaxClients]int
	ready    []uint8
}

func (p *schedule) reset(s *scenario.Scenario) {
	*p = schedule{s: s, ready: p.ready[:0]}
	for i, c := range s.Schedule.Priorities {
		if c > 0 && int(c) <= len(p.priority) {
			p.priority[c-1] = len(s.Schedule.Priorities) - i
		}
	}
}

// next is the next action, or false when nothing is left to happen.
func (p *schedule) next(w *World) (scenario.Action, bool) {
	if p.s.Schedule.Strategy == scenario.Replay {
		return p.replay()
	}
	p.step++
	if a, ok := p.due(w); ok {
		return a, true
	}
	p.ready = p.ready[:0]
	for c := range w.clients {
		if w.Ready(uint8(c + 1)) {
			p.ready = append(p.ready, uint8(c+1))
		}
	}
	if len(p.ready) == 0 {
		return p.idle(w)
	}
	return p.act(w, p.pick()), true
}

func (p *schedule) replay() (scenario.Action, bool) {
	if p.replayed == len(p.s.Schedule.Actions) {
		return scenario.Action{}, false
	}
	p.replayed++
	return p.s.Schedule.Actions[p.replayed-1], true
}

// due is a fault that is no client's, or a dead connection that the broker notices now.
func (p *schedule) due(w *World) (scenario.Action, bool) {
	for c, at := range p.detect[:len(w.clients)] {
		if at > 0 && at <= p.step {
			p.detect[c] = 0
			return scenario.Action{Do: scenario.Detect, Client: uint8(c + 1)}, true
		}
	}
	for i := range p.s.Faults {
		f := &p.s.Faults[i]
		if f.Client == 0 && int(f.At) <= p.step && p.done&(1<<i) == 0 {
			p.done |= 1 << i
			return scenario.Action{Do: f.Do, Arg: f.Arg}, true
		}
	}
	return scenario.Action{}, false
}

// idle is what happens when nobody can go on: dead connections are noticed, and time passes for those
// who stand still.
func (p *schedule) idle(w *World) (scenario.Action, bool) {
	if len(w.ghosts) > 0 {
		return scenario.Action{Do: scenario.Detect, Client: w.ghosts[0].client}, true
	}
	wake := int64(0)
	for i := range w.clients {
		cl := &w.clients[i]
		if !cl.dead && cl.wake > w.now && (cl.busy || w.upcoming(uint8(i+1))) && (wake == 0 || cl.wake < wake) {
			wake = cl.wake
		}
	}
	return scenario.Action{Do: scenario.Advance, Arg: uint16(max(0, wake-w.now))}, wake > 0
}

// pick is the client that goes on.
func (p *schedule) pick() uint8 {
	if p.s.Schedule.Strategy == scenario.Random {
		return p.ready[p.choose(len(p.ready))]
	}
	best := p.ready[0]
	for _, c := range p.ready {
		if p.priority[c-1] > p.priority[best-1] {
			best = c
		}
	}
	changes := p.s.Schedule.Changes
	if p.change < len(changes) && int(changes[p.change]) <= p.step {
		p.change++
		p.priority[best-1] = -p.change
		return p.pick()
	}
	return best
}

// choose takes one of n ways by the schedule's next choice.
func (p *schedule) choose(n int) int {
	choices := p.s.Schedule.Choices
	if len(choices) == 0 {
		return 0
	}
	p.choice++
	return int(choices[(p.choice-1)%len(choices)]) % n
}

// act is what a client does next: what its machine wants, or the fault that is planned for it.
func (p *schedule) act(w *World, c uint8) scenario.Action {
	cl, impl := w.client(c)
	if cl.busy {
		if n := impl.Choices(&cl.machine); n > 0 {
			return scenario.Action{Do: scenario.Choose, Client: c, Arg: uint16(p.choose(n))}
		}
	}
	for i := range p.s.Faults {
		f := &p.s.Faults[i]
		if f.Client == c && f.At <= cl.sent+1 && p.done&(1<<i) == 0 {
			p.done |= 1 << i
			return p.fault(f)
		}
	}
	return scenario.Action{Do: scenario.Step, Client: c}
}

// fault is a planned fault as an action.
func (p *schedule) fault(f *scenario.Fault) scenario.Action {
	a := scenario.Action{Do: f.Do, Client: f.Client, Arg: f.Arg}
	if f.Delay > 0 && (f.Do.Crash() || f.Do == scenario.Lose) {
		a.Late = true
		p.detect[f.Client-1] = p.step + int(f.Delay)
	}
	return a
}
