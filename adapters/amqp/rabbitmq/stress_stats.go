package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
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
	// Costs is what operations took that no fault disturbed. Round trips are those really made:
	// [Conn.Do] says what is written behind one another.
	Costs monitor.Costs
}

// settle adds the bill of an operation that is over, unless a fault disturbed it.
func (s *StressStats) settle(op lock.Op, r lock.Result, b *bill) {
	s.Operations++
	s.Commands += b.commands
	if b.broken || b.connections > 0 || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		return
	}
	s.Costs.Add(op, r, b.lost, [monitor.Measures]int{b.commands, b.trips, b.replies, b.channels, b.connections})
}

// stats adds up what everybody did.
func (s *stressRun) stats() *StressStats {
	out := &StressStats{Elapsed: s.elapsed, Restarts: s.restarts, Rounds: s.barrier.Rounds(), Noticed: s.disconnects.noticed}
	for _, c := range s.clients {
		out.Operations += c.tally.Operations
		out.Commands += c.tally.Commands
		out.Crashes += c.tally.Crashes
		out.Dropped += c.tally.Dropped
		out.Costs.Merge(&c.tally.Costs)
	}
	return out
}
