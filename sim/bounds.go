package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Bounds is a configuration that is small enough to visit every execution: the clients' operations, and the number of
// faults of each kind. Faults may happen at any moment.
//
// Pauses need no bound, since any client may be left unscheduled for an arbitrary time.
type Bounds struct {
	Target  *lock.Target
	Options lock.Options
	Locks   []scenario.Lock
	Clients []scenario.Client
	Faults  FaultBounds
	// Before has the actions that lead to the state in which executions begin. Violations during these actions do not
	// count.
	Before []scenario.Action
	// Forever makes each client repeat its operations without end.
	Forever bool
	// Properties is the set of properties to judge. States omit data that only other properties need.
	Properties property.Set
	// Own are the user's custom properties. They are evaluated in every state.
	Own own.List
	// FailedAcquire says what a failed acquire means: weak or strong semantics.
	FailedAcquire property.FailedAcquire
	// Every adds two kinds of crashes that other actions already cover. In one, a client dies right after it has
	// received a reply. In the other, the broker detects a crash at once, although it may detect crashes late. With
	// them, shortest executions have as few steps as possible.
	Every bool
}

// FaultBounds has the largest number of faults of each kind in one execution. [AnyNumber] means no bound.
type FaultBounds struct {
	Crashes       int  // a client dies before a command, or after its effect
	Drops         int  // the broker drops a connection
	ChannelErrors int  // the broker closes a channel
	Lost          int  // a reply never arrives
	Restarts      int  // the broker restarts
	Clocks        int  // a client's clock jumps, or runs fast or slow from then on
	Lapses        int  // time passes until all leases have ended; only for external clients
	Late          bool // the broker may detect a dead connection late, at any moment
	// CleanCrashes allows crashes only between two commands.
	CleanCrashes bool
}

// AnyNumber, as a number of faults, means no bound.
const AnyNumber = -1

// String lists the bounds that are not zero, as text.
func (f FaultBounds) String() string {
	out := ""
	for _, k := range []struct {
		n           int
		one, plural string
	}{
		{f.Crashes, "crash", "crashes"}, {f.Drops, "dropped connection", "dropped connections"},
		{f.ChannelErrors, "channel error", "channel errors"}, {f.Lost, "lost reply", "lost replies"},
		{f.Restarts, "broker restart", "broker restarts"}, {f.Clocks, "fault of a clock", "faults of clocks"},
	} {
		switch {
		case k.n == AnyNumber:
			out += ", any number of " + k.plural
		case k.n == 1:
			out += ", 1 " + k.one
		case k.n > 0:
			out += fmt.Sprintf(", %d %s", k.n, k.plural)
		}
	}
	if out == "" {
		return "no faults"
	}
	return out[2:]
}

// numbers returns pointers to the bounds that are numbers, the one of clock faults last.
func (f *FaultBounds) numbers() [6]*int {
	return [...]*int{&f.Crashes, &f.Drops, &f.ChannelErrors, &f.Lost, &f.Restarts, &f.Clocks}
}

// Check returns an error that says which bound is invalid, or nil.
func (b *Bounds) Check() error {
	if err := b.Options.Check(); err != nil {
		return err
	}
	switch {
	case len(b.Clients) == 0 || len(b.Clients) > lock.MaxClients:
		return fmt.Errorf("%d clients: expected 1 to %d, administrators included", len(b.Clients), lock.MaxClients)
	case len(b.Locks) == 0 || len(b.Locks) > lock.MaxLocks:
		return fmt.Errorf("%d locks: expected 1 to %d", len(b.Locks), lock.MaxLocks)
	}
	for _, l := range b.Locks {
		if int(l.Slots) >= monitor.Slots {
			return fmt.Errorf("lock %s with %d slots: expected at most %d", l.Name, l.Slots, monitor.Slots-1)
		}
	}
	for i, c := range b.Clients {
		if len(c.Ops) == 0 || len(c.Ops) > scenario.MaxOperations {
			return fmt.Errorf("client %d calls %d operations: expected 1 to %d", i+1, len(c.Ops), scenario.MaxOperations)
		}
	}
	if b.Faults.Clocks != 0 && !BackendOf(b.Target).Clocks.any() {
		return fmt.Errorf("faults of clocks: the clients of %s look at no clock; leave them out", b.Target.Name)
	}
	for _, n := range b.Faults.numbers() {
		n := *n
		if n != AnyNumber && (n < 0 || n > 100) {
			return fmt.Errorf("%d faults of a kind: expected 0 to 100", n)
		}
	}
	return nil
}

// Scenario converts the bounds to a scenario that has no faults and no schedule.
func (b *Bounds) Scenario() scenario.Scenario {
	return scenario.Scenario{
		Target: b.Target.Name, Server: b.Target.Backend, Options: b.Options, Locks: b.Locks, Clients: b.Clients,
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: b.Before, Before: len(b.Before)},
	}
}
