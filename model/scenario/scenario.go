package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// Limits of a scenario. The limits of its clients and locks are [lock.MaxClients] and [lock.MaxLocks].
const (
	MaxSteps = 600 // maximum number of steps; an execution that needs more makes no progress. See Scenario.Steps
	// MostSteps is the maximum of [Scenario.Steps].
	MostSteps = 60_000
	// MaxOperations is the maximum number of operations of one client.
	MaxOperations = 200
)

// Scenario describes one execution: its target, options, workload, faults and schedule.
type Scenario struct {
	Target string `json:"target"`
	// Server is the name of the backend that has the target and the options; "" is AMQP.
	Server  string       `json:"server,omitzero"`
	Options lock.Options `json:"options"`
	Locks   []Lock       `json:"locks"`
	// Clients are numbered from 1: client 1 is Clients[0].
	Clients []Client `json:"clients"`
	Faults  []Fault  `json:"faults,omitempty"`
	// Deeper says which commands count for the moments of faults of external clients (see [World.SentBy]). It is the
	// number of an operation's commands, after its first, that do not count, so that faults happen late in long
	// operations. With EveryCommand, all commands count; with EveryChange, those that may change the broker's state. A
	// number is only useful if locks are not held by queues.
	Deeper   uint8    `json:"deeper,omitzero"`
	Schedule Schedule `json:"schedule"`
	// Steps is the maximum number of steps, for workloads that need more than MaxSteps; 0 means MaxSteps.
	Steps int `json:"steps,omitzero"`
}

// Asleep is the number of milliseconds for which a late Pause stops its client. It is longer than any lease. The
// longest session, on ZooKeeper, lasts exactly as long: it ends because every action takes one more millisecond.
const Asleep = 40_000

// Special values of [Scenario.Deeper]. With EveryCommand, a fault may happen after any command. With EveryChange, it
// may happen only after a command that may change the broker's state.
const (
	EveryCommand = 255
	EveryChange  = 254
)

// StepLimit is the maximum number of steps of the execution.
func (s *Scenario) StepLimit() int { return cmp.Or(s.Steps, MaxSteps) }

// Changed are the options that differ from the defaults, as pairs of name and value. It is empty if there are no
// options.
func (s *Scenario) Changed() [][2]string {
	if s.Options == nil {
		return nil
	}
	return s.Options.Changed()
}

// Facts are the facts of the options; zero if there are no options.
func (s *Scenario) Facts() lock.Facts {
	if s.Options == nil {
		return lock.Facts{}
	}
	return s.Options.Facts()
}

// Restarts reports whether the scenario has a restart of the broker among its faults or actions.
func (s *Scenario) Restarts() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Do == Restart }) ||
		slices.ContainsFunc(s.Schedule.Actions, func(a Action) bool { return a.Kind == Restart })
}

// Lock is a lock of a scenario, with the slots that exist before the first step.
type Lock struct {
	Name    string  `json:"name"`
	Slots   uint8   `json:"slots"`            // number of the highest slot
	Missing SlotSet `json:"missing,omitzero"` // slots below the highest that do not exist
}

// Client is the workload of one client: operations that it calls one after the other. An operation that makes no sense
// is skipped: an acquire while the client holds the lock, or a verify or release while it does not.
type Client struct {
	Lock int `json:"lock"` // index in Scenario.Locks
	// With is the number of another client, with another lock: the two are one process that uses two locks. It makes
	// their calls one at a time, and a fault of one concerns both. 0 is none. Only external clients have it.
	With uint8       `json:"with,omitzero"`
	Ops  []Operation `json:"ops"`
}

// Administers reports whether the client changes the slots of its lock.
func (c *Client) Administers() bool {
	return slices.ContainsFunc(c.Ops, func(o Operation) bool { return o.Op.Administrative() })
}

// Operation is one call. Arg is the number of slots for create, add and remove, and the slot for wait. For an acquire
// it is the caller's limit or priority ([lock.Limits], [lock.Priorities]), 0 for none, or [Waiting]. For a release it
// may be [Anyway].
type Operation struct {
	Op  lock.Op `json:"op"`
	Arg uint8   `json:"arg,omitzero"`
	// Share belongs to an acquire by an external client: the number of permits of a semaphore that it takes, or
	// [Reading] for a mutex in read mode. 0 is unstated.
	Share uint8 `json:"share,omitzero"`
}

// Reading is the Share of an acquire that takes a mutex in read mode.
const Reading = 1

// Anyway is the Arg of a release by a client that holds nothing: it has never acquired, has released before, or was
// told no by a verify. Such a release must change nothing. Simulated clients skip it, since it makes no sense.
const Anyway = 1

// Waiting is the Arg of an acquire by an external client that may wait for the lock for a certain time.
const Waiting = 1

// Sensible reports whether an operation makes sense. An acquire makes sense if the client does not hold the lock. A
// verify, refresh or release makes sense if it does. Other operations always make sense.
func Sensible(op lock.Op, holding bool) bool {
	switch op {
	case lock.Acquire:
		return !holding
	case lock.Verify, lock.Refresh, lock.Release:
		return holding
	}
	return true
}

// Fault is a planned fault. It happens when its client is about to send its At-th command, counted from 1. If Client is
// 0, it happens at the At-th step of the execution.
type Fault struct {
	Do     ActionKind `json:"do"`
	Client uint8      `json:"client,omitzero"`
	At     uint16     `json:"at"`
	// Arg is in milliseconds for Pause, Advance, ClockAhead and ClockBehind, in seconds for Idle, and in thousandths
	// for ClockFast and ClockSlow. For Drop it selects one of the client's connections, cyclically: 1 is the one used
	// last, 2 the one before, and so on; 0 is all.
	Arg uint32 `json:"arg,omitzero"`
	// Delay is the number of steps after which the broker notices the dead connection, or held-back replies arrive. 0
	// means at once.
	Delay uint16 `json:"delay,omitzero"`
	// Late makes the action wait for a certain moment: see [Action].
	Late bool `json:"late,omitzero"`
	// Yields says that after the fault all other clients continue before this one, if the strategy is PCT.
	Yields bool `json:"yields,omitzero"`
}

// Strategy is the way in which a schedule chooses the client that continues.
type Strategy uint8

// The ways to choose the client that continues.
const (
	// Random takes any of the clients that can continue, with equal probability.
	Random Strategy = iota
	// PCT is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010). The client with the highest priority
	// continues. At each of depth-1 random steps, the priority of the running client drops below all others.
	PCT
	// Replay carries out the schedule's Actions.
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

// Schedule has the choices that make one execution of a workload and its faults.
type Schedule struct {
	Strategy Strategy `json:"strategy"`
	// Choices decide every step of Random, and every random option. A choice is taken modulo the number of
	// alternatives. After the last choice, the first is used again.
	Choices []uint8 `json:"choices,omitempty"`
	// Priorities are the numbers of the clients, the highest priority first, for PCT. Changes are the depth-1 steps at
	// which the running client's priority drops.
	Priorities []uint8  `json:"priorities,omitempty"`
	Changes    []uint16 `json:"changes,omitempty"`
	// Actions are all actions of the execution, including faults, for Replay. An action that is impossible when its
	// turn comes is skipped.
	Actions []Action `json:"actions,omitempty"`
	// Before is the number of actions that lead to the judged part of the execution. Violations during these actions do
	// not count.
	Before int `json:"before,omitzero"`
}

// Clone is a copy of the scenario. A change of one does not change the other.
func (s Scenario) Clone() Scenario {
	s.Locks, s.Clients = slices.Clone(s.Locks), slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Ops = slices.Clone(s.Clients[i].Ops)
	}
	s.Schedule.Actions = slices.Clone(s.Schedule.Actions)
	return s
}
