package scenario

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
)

// World is what a [Plan] must know of a simulated world or of external clients. Clients are numbered from 1.
type World interface {
	// Ready reports whether a client has something to do and is not paused.
	Ready(c uint8) bool
	// SentBy is the number of commands that a client has sent so far, as far as they count for the moments of faults.
	SentBy(c uint8) uint16
	// Ways is the number of values from which a client now chooses at random; 0 if it has no choice to make.
	Ways(c uint8) int
	// Links is the set of a client's activities that can continue: bit 0 is its operation, and other bits are
	// activities at the same time, such as the renewal of a lease.
	Links(c uint8) uint8
	// Undetected is a client with a dead connection that the broker has not noticed; 0 if there is none.
	Undetected() uint8
	// Wake is the number of milliseconds until the first paused client continues; 0 if no client is paused.
	Wake() int64
}

// Plan chooses the actions of an execution by a scenario's schedule. It takes faults when they are due. Otherwise it
// takes the next command of the client that the schedule's strategy chooses.
type Plan struct {
	s        *Scenario
	step     int
	choice   int // number of the schedule's choices used so far
	change   int // number of the schedule's priority changes made so far
	replayed int
	done     uint64 // faults that have happened: bit i is fault i
	detect   [lock.MaxClients]int
	arrive   [lock.MaxClients]int
	stalled  bool // a Stall has happened
	priority [lock.MaxClients]int
	ready    []uint8
}

// Reset begins the execution of a scenario.
func (p *Plan) Reset(s *Scenario) {
	*p = Plan{s: s, ready: p.ready[:0]}
	for i, c := range s.Schedule.Priorities {
		if c > 0 && int(c) <= len(p.priority) {
			p.priority[c-1] = len(s.Schedule.Priorities) - i
		}
	}
}

// Next returns the next action, or false if the execution is over.
func (p *Plan) Next(w World) (Action, bool) {
	if p.s.Schedule.Strategy == Replay {
		return p.replay()
	}
	p.step++
	if a, ok := p.due(); ok {
		return a, true
	}
	p.ready = p.ready[:0]
	for c := range p.s.Clients {
		if w.Ready(uint8(c + 1)) {
			p.ready = append(p.ready, uint8(c+1))
		}
	}
	if len(p.ready) == 0 {
		return idle(w)
	}
	return p.act(w, p.pick()), true
}

func (p *Plan) replay() (Action, bool) {
	if p.replayed == len(p.s.Schedule.Actions) {
		return Action{}, false
	}
	p.replayed++
	return p.s.Schedule.Actions[p.replayed-1], true
}

// due returns an action that is due now and does not wait for a client: a fault, a Detect or an Arrive. The bool is
// false if there is none.
func (p *Plan) due() (Action, bool) {
	for c, at := range p.detect[:len(p.s.Clients)] {
		if at > 0 && at <= p.step {
			p.detect[c] = 0
			return Action{Kind: Detect, Client: uint8(c + 1)}, true
		}
	}
	if c := p.arriving(); c > 0 {
		return Action{Kind: Arrive, Client: c}, true
	}
	for i := range p.s.Faults {
		f := &p.s.Faults[i]
		if f.Client == 0 && int(f.At) <= p.step && p.done&(1<<i) == 0 {
			p.done |= 1 << i
			return Action{Kind: f.Do, Arg: f.Arg, Late: f.Late}, true
		}
	}
	return Action{}, false
}

// arriving is a client whose held-back replies arrive now; 0 if there is none.
func (p *Plan) arriving() uint8 {
	if !p.stalled {
		return 0
	}
	for c, at := range p.arrive {
		if at > 0 && at <= p.step {
			p.arrive[c] = 0
			return uint8(c + 1)
		}
	}
	return 0
}

// idle returns the action if no client can continue: the broker notices a dead connection, or time passes until a
// paused client continues. The bool is false if neither is possible, so that the execution is over.
func idle(w World) (Action, bool) {
	if c := w.Undetected(); c > 0 {
		return Action{Kind: Detect, Client: c}, true
	}
	wake := w.Wake()
	return Action{Kind: Advance, Arg: uint32(wake)}, wake > 0
}

// pick is the client that continues, chosen by the strategy.
func (p *Plan) pick() uint8 {
	if p.s.Schedule.Strategy == Random {
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

// choose is a number below n, decided by the schedule's next choice.
func (p *Plan) choose(n int) int {
	choices := p.s.Schedule.Choices
	if len(choices) == 0 {
		return 0
	}
	p.choice++
	return int(choices[(p.choice-1)%len(choices)]) % n
}

// act is the next action of client c: a choice, a step, or a fault planned for it.
func (p *Plan) act(w World, c uint8) Action {
	if n := w.Ways(c); n > 0 {
		return Action{Kind: Choose, Client: c, Arg: uint32(p.choose(n))}
	}
	links := w.Links(c)
	if link := p.link(links); link > 0 {
		return Action{Kind: Step, Client: c, Arg: link}
	}
	for i := range p.s.Faults {
		f := &p.s.Faults[i]
		if f.Client == c && f.At <= w.SentBy(c)+1 && p.done&(1<<i) == 0 {
			p.done |= 1 << i
			if f.Yields {
				p.priority[c-1] = -len(p.s.Schedule.Changes) - 1
			}
			return p.fault(f)
		}
	}
	return Action{Kind: Step, Client: c}
}

// link chooses one of the activities in the set links, and returns its number.
func (p *Plan) link(links uint8) uint32 {
	if links <= 1 {
		return 0
	}
	for n := p.choose(bits.OnesCount8(links)); n > 0; n-- {
		links &= links - 1
	}
	return uint32(bits.TrailingZeros8(links))
}

// fault converts a planned fault to an action. It also plans the Detect or Arrive that follows.
func (p *Plan) fault(f *Fault) Action {
	a := Action{Kind: f.Do, Client: f.Client, Arg: f.Arg, Late: f.Late}
	if f.Delay > 0 && (f.Do.Crash() || f.Do == Lose) {
		a.Late = true
		p.detect[f.Client-1] = p.step + int(f.Delay)
	}
	if f.Do == Stall {
		p.stalled, p.arrive[f.Client-1] = true, p.step+1+int(f.Delay)
	}
	return a
}
