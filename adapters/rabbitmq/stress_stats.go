package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/lock"
)

// StressStats is how much was done in a run, and what it took.
type StressStats struct {
	Elapsed    time.Duration // of the rounds
	Rounds     int           // that were begun
	Operations int           // that were answered
	Commands   int           // that clients sent for them
	Crashes    int           // clients that died
	Dropped    int           // connections that the broker closed, in restarts too, or did not answer on
	Noticed    int           // dead connections of which it was found out that the broker had noticed
	Restarts   int           // of the broker
	// Costs is what operations took that no fault disturbed, situation by situation.
	Costs []StressCost
}

// StressCost is what operations took in one situation.
type StressCost struct {
	Situation string // such as "acquire slot 1"
	Commands  StressSpread
	// RoundTrips are those really made: [Conn.Do] says what is written behind one another.
	// Unpipelined is what they would be if every reply were waited for.
	RoundTrips, Unpipelined StressSpread
	Channels, Connections   StressSpread // opened
}

// StressSpread is the least, the most and the sum of some counts. The zero value has none.
type StressSpread struct{ Min, Max, Sum, Count int }

func (s *StressSpread) add(n int) { s.merge(StressSpread{n, n, n, 1}) }

func (s *StressSpread) merge(o StressSpread) {
	switch {
	case o.Count == 0:
		return
	case s.Count == 0:
		s.Min = o.Min
	}
	s.Min, s.Max, s.Sum, s.Count = min(s.Min, o.Min), max(s.Max, o.Max), s.Sum+o.Sum, s.Count+o.Count
}

func (c *StressCost) add(b *bill) {
	c.Commands.add(b.commands)
	c.RoundTrips.add(b.trips)
	c.Unpipelined.add(b.replies)
	c.Channels.add(b.channels)
	c.Connections.add(b.connections)
}

func (c *StressCost) merge(o *StressCost) {
	c.Commands.merge(o.Commands)
	c.RoundTrips.merge(o.RoundTrips)
	c.Unpipelined.merge(o.Unpipelined)
	c.Channels.merge(o.Channels)
	c.Connections.merge(o.Connections)
}

// situation is an operation and how it went, as far as that decides what it may cost.
type situation int

const (
	acquireFirst situation = iota
	acquireLater
	acquireRaced
	acquireFull
	acquireOther
	verifyHeld
	verifyRemoved
	releaseOK  // and the operations after it, in their order
	situations = releaseOK + situation(lock.Wait-lock.Release) + 1
)

var situationNames = [situations]string{
	"acquire slot 1", "acquire a later slot", "acquire after a lost race", "acquire, all taken",
	"acquire, withdrawn or given up", "verify, held", "verify, not held",
	"release", "create", "add", "remove", "destroy", "count", "wait",
}

func situationOf(op lock.Op, r lock.Result, lost int) situation {
	switch {
	case op == lock.Verify && r.Held:
		return verifyHeld
	case op == lock.Verify:
		return verifyRemoved
	case op != lock.Acquire:
		return releaseOK + situation(op-lock.Release)
	case r.Held && lost > 0:
		return acquireRaced
	case r.Held && r.Slot == 1:
		return acquireFirst
	case r.Held:
		return acquireLater
	case r.Reason == lock.Full && lost == 0:
		return acquireFull
	}
	return acquireOther
}

// tally is what one client did.
type tally struct {
	operations, commands, crashes, dropped int

	costs [situations]StressCost
}

// settle adds the bill of an operation that is over to the costs, unless a fault disturbed it.
func (t *tally) settle(op lock.Op, r lock.Result, b *bill) {
	t.operations++
	t.commands += b.commands
	if b.broken || b.connections > 0 || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		return
	}
	t.costs[situationOf(op, r, b.lost)].add(b)
}

// stats adds up what everybody did.
func (s *stress) stats() *StressStats {
	out := &StressStats{Elapsed: s.elapsed, Restarts: s.restarts, Rounds: s.barrier.round, Noticed: s.undertaker.noticed}
	var sum [situations]StressCost
	for _, c := range s.clients {
		out.Operations += c.tally.operations
		out.Commands += c.tally.commands
		out.Crashes += c.tally.crashes
		out.Dropped += c.tally.dropped
		for k := range sum {
			sum[k].merge(&c.tally.costs[k])
		}
	}
	for k := range sum {
		if sum[k].Commands.Count > 0 {
			sum[k].Situation = situationNames[k]
			out.Costs = append(out.Costs, sum[k])
		}
	}
	return out
}
