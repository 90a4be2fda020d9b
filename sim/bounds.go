package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
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
	// Properties are those to judge. What only others are judged from is not part of a state.
	Properties spec.PropertySet
	// Strength is what a failed acquire is taken to promise.
	Strength spec.Strength
}

// FaultBounds says how many faults of each kind one execution may have.
type FaultBounds struct {
	Crashes       int  // a client dies before a command, or after its effect
	Drops         int  // the broker drops a connection
	ChannelErrors int  // the broker closes a channel
	Lost          int  // a reply never arrives
	Restarts      int  // the broker restarts
	Late          bool // the broker may notice a dead connection at any later moment
	// CleanCrashes are crashes between two commands only.
	CleanCrashes bool
}

// String is the bounds in words, for those that are not zero.
func (f FaultBounds) String() string {
	out := ""
	for _, k := range []struct {
		n           int
		one, plural string
	}{
		{f.Crashes, "crash", "crashes"}, {f.Drops, "dropped connection", "dropped connections"},
		{f.ChannelErrors, "channel error", "channel errors"}, {f.Lost, "lost reply", "lost replies"},
		{f.Restarts, "broker restart", "broker restarts"},
	} {
		switch {
		case k.n == 1:
			out += ", 1 " + k.one
		case k.n > 1:
			out += fmt.Sprintf(", %d %s", k.n, k.plural)
		}
	}
	if out == "" {
		return "no faults"
	}
	return out[2:]
}

// Check reports what is wrong with the bounds.
func (b *Bounds) Check() error {
	if err := b.Options.Check(); err != nil {
		return err
	}
	switch {
	case len(b.Clients) == 0 || len(b.Clients) > scenario.MaxClients:
		return fmt.Errorf("%d clients: expected 1 to %d, administrators included", len(b.Clients), scenario.MaxClients)
	case len(b.Locks) == 0 || len(b.Locks) > scenario.MaxLocks:
		return fmt.Errorf("%d locks: expected 1 to %d", len(b.Locks), scenario.MaxLocks)
	}
	for _, l := range b.Locks {
		if int(l.Slots) >= spec.Slots {
			return fmt.Errorf("lock %s with %d slots: expected at most %d", l.Name, l.Slots, spec.Slots-1)
		}
	}
	for i, c := range b.Clients {
		if len(c.Ops) == 0 || len(c.Ops) > 200 {
			return fmt.Errorf("client %d calls %d operations: expected 1 to 200", i+1, len(c.Ops))
		}
	}
	f := b.Faults
	for _, n := range []int{f.Crashes, f.Drops, f.ChannelErrors, f.Lost, f.Restarts} {
		if n < 0 || n > 100 {
			return fmt.Errorf("%d faults of a kind: expected 0 to 100", n)
		}
	}
	return nil
}

// Scenario is the bounds as a scenario without faults and without a schedule.
func (b *Bounds) Scenario() scenario.Scenario {
	return scenario.Scenario{
		Target: b.Target.Name, Options: b.Options, Locks: b.Locks, Clients: b.Clients,
		Schedule: scenario.Schedule{Strategy: scenario.Replay},
	}
}

// timed reports whether the passing of time makes a difference.
func timed(o *lock.Options) bool {
	return o.Skew > 0 || o.Arguments.Has&(amqp.HasExpires|amqp.HasMessageTTL) != 0
}
