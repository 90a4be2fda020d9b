package foreign

import (
	"context"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// Explore visits the orders of a scenario's commands, as [orders.Explorer.Visit] says. visit may use the runner for other runs. Its
// error ends the exploration.
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

// Vulnerable implements [orders.World]. A fault of a dead client makes no difference. A fault of any other client may, as
// its further commands are unknown.
func (r *run) Vulnerable(c uint8) bool { return !r.clients[c-1].dead }

// Clients implements [orders.World].
func (r *run) Clients() int { return len(r.sc.Clients) }

// Recorded implements [orders.World].
func (r *run) Recorded() ([]scenario.TraceStep, []history.Event) {
	return r.record.Steps, r.record.Events
}

// Open implements [orders.World].
func (r *run) Open(c uint8) int { return len(r.open(&r.clients[c-1])) }

var _ orders.World = (*run)(nil)
