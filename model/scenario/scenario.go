package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// Bounds of a scenario. How many clients and locks it has is bounded by [lock.MaxClients] and [lock.MaxLocks].
const (
	MaxSteps = 600 // an execution that is not over by then has not made progress, unless its scenario says more
	// MostSteps is the most that a scenario may say.
	MostSteps = 60_000
	// MaxOperations is how many operations one client calls at most.
	MaxOperations = 200
)

// Scenario is one execution to be: target, options, workload, faults and schedule.
type Scenario struct {
	Target string `json:"target"`
	// Server is the backend that the target stands on ([lock.Target]); "" is AMQP. The options are of the same.
	Server  string       `json:"server,omitzero"`
	Options lock.Options `json:"options"`
	Locks   []Lock       `json:"locks"`
	// Clients are numbered from 1 in their order here.
	Clients []Client `json:"clients"`
	Faults  []Fault  `json:"faults,omitempty"`
	// Deeper is the number of commands of each operation, after the first, that do not count towards the moments of
	// faults, so that faults fall into long operations: see [World.SentBy]. With EveryCommand, each command counts.
	// With EveryChange, those count that may change the broker's state. Only external clients need it; a number of
	// commands makes sense if locks are not held by queues.
	Deeper   uint8    `json:"deeper,omitzero"`
	Schedule Schedule `json:"schedule"`
	// Steps is how many steps the execution may take, where a large workload needs more than MaxSteps; 0 is that.
	Steps int `json:"steps,omitzero"`
}

// The values of [Scenario.Deeper] for faults after any command, or after any command that may change the broker's
// state: reads, in any number, do not count then.
const (
	EveryCommand = 255
	EveryChange  = 254
)

// StepLimit is how many steps the execution may take.
func (s *Scenario) StepLimit() int { return cmp.Or(s.Steps, MaxSteps) }

// Changed are its options that are not the defaults, as names and values. One that leaves them to its target has none.
func (s *Scenario) Changed() [][2]string {
	if s.Options == nil {
		return nil
	}
	return s.Options.Changed()
}

// Facts are the facts of its options for its judges; a scenario that leaves them to its target has none.
func (s *Scenario) Facts() lock.Facts {
	if s.Options == nil {
		return lock.Facts{}
	}
	return s.Options.Facts()
}

// Restarts reports whether the broker is restarted.
func (s *Scenario) Restarts() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Do == Restart }) ||
		slices.ContainsFunc(s.Schedule.Actions, func(a Action) bool { return a.Kind == Restart })
}

// Lock is one lock of a scenario and the slots it has before the first step.
type Lock struct {
	Name    string  `json:"name"`
	Slots   uint8   `json:"slots"`            // the last one
	Missing SlotSet `json:"missing,omitzero"` // those before it that are not there
}

// Client is one client's workload: operations called one after the other. Operations that make no
// sense when their turn comes (acquire while holding, verify and release while not) are passed over.
type Client struct {
	Lock int `json:"lock"` // which of the scenario's locks, from 0
	// With, where it is not 0, is another client, of another lock: both are one process, which uses two locks. It makes
	// their calls one at a time, and what befalls it befalls both. Only clients that are not ours are asked for that.
	With uint8       `json:"with,omitzero"`
	Ops  []Operation `json:"ops"`
}

// Administers reports whether the client is to change the slots of its lock.
func (c *Client) Administers() bool {
	return slices.ContainsFunc(c.Ops, func(o Operation) bool { return o.Op.Administrative() })
}

// Operation is one call. Arg is the number of slots of create, add and remove, and the slot of wait. For an acquire
// it is its caller's limit or priority ([lock.Limits], [lock.Priorities]), 0 for none, or that it may wait for the
// lock ([Waiting]). A release with [Anyway] is called without a hold.
type Operation struct {
	Op  lock.Op `json:"op"`
	Arg uint8   `json:"arg,omitzero"`
	// Share is, of an acquire by clients that are not ours, how many permits of a semaphore it takes, or [Reading] of a mutex
	// that it takes to read; 0 does not say.
	Share uint8 `json:"share,omitzero"`
}

// Reading is the Share of an acquire of a mutex to read.
const Reading = 1

// Anyway is the Arg of a release that is called though its client holds nothing: after a verify that said no, twice, or of
// what it never held. It must change nothing. Locks of ours take it for a release that makes no sense, and pass over it.
const Anyway = 1

// Waiting is the Arg of an acquire, by clients that are not ours, that may wait for the lock: they are told for how long.
const Waiting = 1

// Sensible reports whether an operation makes sense: a client acquires without a hold, and verifies and releases with
// one.
func Sensible(op lock.Op, holding bool) bool {
	switch op {
	case lock.Acquire:
		return !holding
	case lock.Verify, lock.Refresh, lock.Release:
		return holding
	}
	return true
}

// Fault is a planned fault. It happens when its client is about to send its At-th command, counted from 1. Without a
// client, it happens at the At-th step of the execution.
type Fault struct {
	Do     ActionKind `json:"do"`
	Client uint8      `json:"client,omitzero"`
	At     uint16     `json:"at"`
	// Arg is the milliseconds of Pause, Advance, ClockAhead and ClockBehind, the seconds of Idle, and the thousandths
	// of ClockFast and ClockSlow. For Drop it selects one of the client's connections, cyclically from 1, the one
	// used last; 0 is all.
	Arg uint32 `json:"arg,omitzero"`
	// Delay, where it is not 0, makes the broker notice a dead connection that many steps later.
	Delay uint16 `json:"delay,omitzero"`
	// Late says that the action waits for its moment: see [Action].
	Late bool `json:"late,omitzero"`
	// Yields says that all others go on before its client does, where the strategy is PCT.
	Yields bool `json:"yields,omitzero"`
}

// Strategy is how a schedule chooses among the clients that can go on.
type Strategy uint8

// The strategies.
const (
	// Random takes any client with equal probability at every step.
	Random Strategy = iota
	// PCT is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): the client of the highest priority
	// runs, and at each of depth-1 drawn steps its priority drops below all others.
	PCT
	// Replay does what is written in Actions.
	Replay
)

var strategyNames = [...]string{"random", "pct", "replay"}

// String is the strategy's name.
func (s Strategy) String() string { return strategyNames[s] }

// MarshalText implements [encoding.TextMarshaler].
func (s Strategy) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Strategy) UnmarshalText(text []byte) error {
	for i, n := range strategyNames {
		if n == string(text) {
			*s = Strategy(i)
			return nil
		}
	}
	return fmt.Errorf("strategy %q: expected one of %q", text, strategyNames)
}

// Schedule is the choices that turn a workload and faults into one execution.
type Schedule struct {
	Strategy Strategy `json:"strategy"`
	// Choices decide every step of Random, and every random option: the i-th choice, modulo the
	// number of ways there are. They are used again from the beginning when they run out.
	Choices []uint8 `json:"choices,omitempty"`
	// Priorities are PCT's: the numbers of the clients, the one with the highest priority first.
	// Changes are the steps at which the running client's priority drops: depth-1 of them.
	Priorities []uint8  `json:"priorities,omitempty"`
	Changes    []uint16 `json:"changes,omitempty"`
	// Actions are the whole execution of Replay, faults included. One that cannot be done when its
	// turn comes is passed over.
	Actions []Action `json:"actions,omitempty"`
	// Before is the number of actions that lead to the start of the judged part: their violations do not count.
	Before int `json:"before,omitzero"`
}

// Clone is a copy that shares nothing with the scenario that can be changed.
func (s Scenario) Clone() Scenario {
	s.Locks, s.Clients = slices.Clone(s.Locks), slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Ops = slices.Clone(s.Clients[i].Ops)
	}
	s.Schedule.Actions = slices.Clone(s.Schedule.Actions)
	return s
}
