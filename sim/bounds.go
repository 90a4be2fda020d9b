package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Bounds is a configuration small enough for every execution to be visited: a workload, and how many
// faults of each kind may happen, wherever they happen.
//
// A pause is not among the faults: a client that is not chosen stands still, for as long as you like.
type Bounds struct {
	Target  *lock.Target
	Options lock.Options
	Locks   []scenario.Lock
	Clients []scenario.Client
	Faults  FaultBounds
	// Before leads to the state in which executions begin. Its violations do not count.
	Before []scenario.Action
	// Forever has every client begin its operations again when it is done with them.
	Forever bool
	// Properties are the properties to judge. States leave out what only other properties need.
	Properties property.Set
	// Own are users' own properties. They are judged of every state.
	Own own.List
	// FailedAcquire is what a failed acquire is taken to promise.
	FailedAcquire property.FailedAcquire
	// Every adds crashes that two other actions already cover: with a reply in hand, or noticed at once where the
	// broker may be late. Executions are then as short as possible.
	Every bool
}

// FaultBounds says how many faults of each kind one execution may have.
type FaultBounds struct {
	Crashes       int  // a client dies before a command, or after its effect
	Drops         int  // the broker drops a connection
	ChannelErrors int  // the broker closes a channel
	Lost          int  // a reply never arrives
	Restarts      int  // the broker restarts
	Clocks        int  // a client's clock jumps, or runs fast or slow from then on
	Lapses        int  // so much time passes that all leases end; of other people's clients alone
	Late          bool // the broker may notice a dead connection at any later moment
	// CleanCrashes are crashes between two commands only.
	CleanCrashes bool
}

// AnyNumber, in place of a number of faults, sets no bound to them.
const AnyNumber = -1

// String is the bounds in words, for those that are not zero.
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

// numbers are the bounds that are numbers.
func (f *FaultBounds) numbers() [6]*int {
	return [...]*int{&f.Crashes, &f.Drops, &f.ChannelErrors, &f.Lost, &f.Restarts, &f.Clocks}
}

// Check reports what is wrong with the bounds.
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

// Scenario is the bounds as a scenario without faults and without a schedule.
func (b *Bounds) Scenario() scenario.Scenario {
	return scenario.Scenario{
		Target: b.Target.Name, Server: b.Target.Backend, Options: b.Options, Locks: b.Locks, Clients: b.Clients,
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: b.Before, Before: len(b.Before)},
	}
}
