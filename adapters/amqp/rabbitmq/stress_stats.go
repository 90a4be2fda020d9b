package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// StressStats counts what a stress run did, and what that cost.
type StressStats struct {
	Elapsed    time.Duration // duration of all rounds
	Rounds     int           // number of rounds begun
	Operations int           // number of operations that were completed
	Commands   int           // number of commands that clients sent in these operations
	Crashes    int           // number of clients that died
	Dropped    int           // number of connections that the broker closed or did not answer on, also in restarts
	Noticed    int           // number of dead connections that the broker has certainly noticed
	Restarts   int           // number of restarts of the broker
	// Costs is the cost of operations during which no fault occurred. Round trips are as measured: [Conn.Do] says which
	// commands it pipelines.
	Costs monitor.Costs
}

// settle adds the cost of a completed operation, unless a fault occurred during it.
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
