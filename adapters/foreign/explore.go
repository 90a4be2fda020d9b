package foreign

import (
	"context"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// Explore runs the scenario with different orders of its commands, as [orders.Explorer.Visit] says. It calls visit with
// each execution. visit may use the runner for other runs, and its error ends the exploration.
func (s *Runner) Explore(ctx context.Context, sc scenario.Scenario, o orders.Options, visit func(*Execution) error) (*orders.Exploration, error) {
	sc.Faults, sc.Schedule = nil, scenario.Schedule{Strategy: scenario.Replay}
	if s.exploring = true; !o.Audits {
		s.audits = make(audits)
	}
	defer func() { s.exploring, s.audits = false, nil }()
	e := orders.New(o)
	var x *Execution
	play := func() (p orders.Played, err error) {
		s.listen(func(c gate.Command) { e.OnCommand(c.Payload()) })
		defer s.listen(nil)
		if x, err = s.play(ctx, &sc, e); err == nil {
			p = orders.Played{Trace: x.Trace, Free: x.Uncontrolled.Free(), Shared: s.Sharing(), Found: x.Found}
		}
		return p, err
	}
	return e.Visit(play, func() error { return visit(x) })
}

// Vulnerable implements [orders.World]: it reports whether a fault of client c may make a difference. This is false
// only for a dead client. For a living one it is unknown what the client will still send, so every fault may matter.
func (r *run) Vulnerable(c uint8) bool { return !r.clients[c-1].dead }

// Clients implements [orders.World]: the number of the scenario's clients.
func (r *run) Clients() int { return len(r.sc.Clients) }

// Recorded implements [orders.World]: the steps and events so far.
func (r *run) Recorded() ([]scenario.TraceStep, []history.Event) {
	return r.record.Steps, r.record.Events
}

// Open implements [orders.World]: the number of client c's open connections.
func (r *run) Open(c uint8) int { return len(r.open(&r.clients[c-1])) }

var _ orders.World = (*run)(nil)
