package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// Bounds of a scenario. [lock.MaxClients] and [lock.MaxLocks] bound its clients and locks.
const (
	MaxSteps = 600 // an execution that takes longer makes no progress, unless its scenario allows more
	// MostSteps is the largest value of [Scenario.Steps].
	MostSteps = 60_000
	// MaxOperations is the largest number of operations of one client.
	MaxOperations = 200
)

// Scenario is the description of one execution: target, options, workload, faults and schedule.
type Scenario struct {
	Target string `json:"target"`
	// Server is the backend of the target ([lock.Target]) and of the options; "" is AMQP.
	Server  string       `json:"server,omitzero"`
	Options lock.Options `json:"options"`
	Locks   []Lock       `json:"locks"`
	// Clients are numbered from 1 in their order here.
	Clients []Client `json:"clients"`
	Faults  []Fault  `json:"faults,omitempty"`
	// Deeper is the number of commands of each operation, after the first, that do not count towards the moments of
	// faults, so that faults strike late in long operations: see [World.SentBy]. With EveryCommand, all commands
	// count. With EveryChange, only those count that may change the broker's state. Only external clients need this
	// field; a number of commands makes sense if locks are not held by queues.
	Deeper   uint8    `json:"deeper,omitzero"`
	Schedule Schedule `json:"schedule"`
	// Steps is the limit of steps, if a large workload needs more than MaxSteps; 0 is MaxSteps.
	Steps int `json:"steps,omitzero"`
}

// Asleep is the number of milliseconds for which a late Pause stops its client. It is longer than any lease and any session.
const Asleep = 40_000

// Special values of [Scenario.Deeper]: faults strike after any command, or after any command that may change the
// broker's state. In the second case reads do not count, however many there are.
const (
	EveryCommand = 255
	EveryChange  = 254
)

// StepLimit is the largest number of steps of the execution.
func (s *Scenario) StepLimit() int { return cmp.Or(s.Steps, MaxSteps) }

// Changed are the options that differ from the defaults, as names and values; none if the target decides the options.
func (s *Scenario) Changed() [][2]string {
	if s.Options == nil {
		return nil
	}
	return s.Options.Changed()
}

// Facts are the facts of the options for the judges; zero if the target decides the options.
func (s *Scenario) Facts() lock.Facts {
	if s.Options == nil {
		return lock.Facts{}
	}
	return s.Options.Facts()
}

// Restarts reports whether the broker restarts.
func (s *Scenario) Restarts() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Do == Restart }) ||
		slices.ContainsFunc(s.Schedule.Actions, func(a Action) bool { return a.Kind == Restart })
}

// Lock is one lock of a scenario and the slots it has before the first step.
type Lock struct {
	Name    string  `json:"name"`
	Slots   uint8   `json:"slots"`            // the highest slot
	Missing SlotSet `json:"missing,omitzero"` // the slots below it that do not exist
}

// Client is the workload of one client: operations called one after the other. Operations that make no sense when
// their turn comes (acquire while holding; verify and release while not holding) are skipped.
type Client struct {
	Lock int `json:"lock"` // index of its lock in the scenario
	// With, if not 0, is another client, with another lock: both are one process, which uses two locks. The process
	// makes their calls one at a time, and a fault of one concerns both. Only external clients have it.
	With uint8       `json:"with,omitzero"`
	Ops  []Operation `json:"ops"`
}

// Administers reports whether the client changes the slots of its lock.
func (c *Client) Administers() bool {
	return slices.ContainsFunc(c.Ops, func(o Operation) bool { return o.Op.Administrative() })
}

// Operation is one call. Arg is the number of slots for create, add and remove, and the slot for wait. For an acquire
// it is the caller's limit or priority ([lock.Limits], [lock.Priorities]), 0 for none; or [Waiting], if the acquire
// may wait for the lock. A release with [Anyway] is called without a hold.
type Operation struct {
	Op  lock.Op `json:"op"`
	Arg uint8   `json:"arg,omitzero"`
	// Share, in an acquire by an external client, is the number of permits that it takes of a semaphore, or [Reading]
	// for a mutex in read mode; 0 is unstated.
	Share uint8 `json:"share,omitzero"`
}

// Reading is the Share of an acquire of a mutex in read mode.
const Reading = 1

// Anyway is the Arg of a release by a client without a hold: after a verify that said no, for the second time, or
// without an acquire. It must change nothing. Simulated locks skip it as a release that makes no sense.
const Anyway = 1

// Waiting is the Arg of an acquire by an external client that may wait for the lock, up to a given time.
const Waiting = 1

// Sensible reports whether an operation makes sense: a client without a hold acquires, and a client with one verifies
// and releases.
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
	// Arg is in milliseconds for Pause, Advance, ClockAhead and ClockBehind, in seconds for Idle, and in thousandths
	// for ClockFast and ClockSlow. For Drop it selects one of the client's connections, cyclically from 1, the one
	// used last; 0 is all.
	Arg uint32 `json:"arg,omitzero"`
	// Delay, if not 0, is the number of steps after which the broker notices a dead connection.
	Delay uint16 `json:"delay,omitzero"`
	// Late says that the action waits for a certain moment: see [Action].
	Late bool `json:"late,omitzero"`
	// Yields says that all other clients continue before this one, if the strategy is PCT.
	Yields bool `json:"yields,omitzero"`
}

// Strategy is how a schedule chooses among the clients that can continue.
type Strategy uint8

// The strategies.
const (
	// Random takes any client with equal probability at every step.
	Random Strategy = iota
	// PCT is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): the client with the highest priority
	// runs, and at each of depth-1 random steps its priority drops below all others.
	PCT
	// Replay follows the schedule's Actions.
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
	// Choices decide every step of Random, and every random option: choice number i, modulo the number of
	// alternatives. When they run out, they start over.
	Choices []uint8 `json:"choices,omitempty"`
	// Priorities are the numbers of the clients for PCT, the highest priority first. Changes are the depth-1 steps at
	// which the running client's priority drops.
	Priorities []uint8  `json:"priorities,omitempty"`
	Changes    []uint16 `json:"changes,omitempty"`
	// Actions are the whole execution for Replay, including faults. An action that is not possible when its turn
	// comes is skipped.
	Actions []Action `json:"actions,omitempty"`
	// Before is the number of actions that lead to the start of the judged part. Violations during them do not count.
	Before int `json:"before,omitzero"`
}

// Clone is a copy that shares no mutable data with the scenario.
func (s Scenario) Clone() Scenario {
	s.Locks, s.Clients = slices.Clone(s.Locks), slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Ops = slices.Clone(s.Clients[i].Ops)
	}
	s.Schedule.Actions = slices.Clone(s.Schedule.Actions)
	return s
}
