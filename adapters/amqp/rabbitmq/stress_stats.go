package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// StressStats counts what was done in a run, and its cost.
type StressStats struct {
	Elapsed    time.Duration // of the rounds
	Rounds     int           // rounds begun
	Operations int           // operations answered
	Commands   int           // commands that clients sent for them
	Crashes    int           // clients that died
	Dropped    int           // connections that the broker closed, also in restarts, or did not answer on
	Noticed    int           // dead connections that the broker has certainly noticed
	Restarts   int           // of the broker
	// Costs is the cost of operations that no fault disturbed. Round trips are those really made: [Conn.Do] says which
	// commands are written together.
	Costs monitor.Costs
}

// settle adds the cost of a completed operation, unless a fault disturbed it.
func (s *StressStats) settle(op lock.Op, r lock.Result, b *bill) {
	s.Operations++
	s.Commands += b.commands
	if b.broken || b.connections > 0 || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		return
	}
	s.Costs.Add(op, r, b.lost, [monitor.Measures]int{b.commands, b.trips, b.replies, b.channels, b.connections})
}

// stats adds up the statistics of all clients.
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
