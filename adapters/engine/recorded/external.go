package recorded

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/property"
)

// ExternalStressConfig says which external lock to stress, on which broker, and with which load.
type ExternalStressConfig struct {
	clientstress.Config
	// Exec is the command that starts the clients, for the report; "" if the clients are no external program.
	Exec string
	// Name is the name of the target in the report. "" means the name that the clients report.
	Name string
	// Broker is the name that the broker reports, for example "RabbitMQ 3.10.8".
	Broker string
	engine.Judging
	// Keep stores the history of a target before it is judged, so that a crash of the checker does not lose it. source
	// says where the history is stored. Keep may be nil.
	Keep func(h *history.History, target string) (source string, err error)
}

// StressExternal makes external clients use a lock at once on a real broker, and judges the history: see
// [clientstress.Run]. It returns an error if the run failed or ended early: ctx ended, a client cannot be started, or a
// client breaks the protocol. The result covers the run until the error; it is nil if there is no history.
func StressExternal(ctx context.Context, c ExternalStressConfig) (*engine.Result, error) {
	h, stats, err := clientstress.Run(ctx, c.Config)
	if h == nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = stats.Name
	}
	source := ""
	if c.Keep != nil {
		var unkept error
		source, unkept = c.Keep(h, c.Name)
		err = errors.Join(err, unkept)
	}
	if stats.Wire != nil && stats.Wire.Opened == 0 && ctx.Err() == nil {
		return nil, errors.Join(fmt.Errorf("stress of %s through the proxy: %w", c.Name, foreign.ErrElsewhere), err)
	}
	report := c.judged(h, stats, source)
	c.tell(report, stats)
	report.Interrupted = stats.Rounds < c.Rounds || ctx.Err() != nil
	return &engine.Result{Report: report}, err
}

// judged judges the history of a stress run. Safety is judged by holds that are certain, and recovery by the audit at
// the end. Linearizability is judged only if no client died and every operation completed.
func (c *ExternalStressConfig) judged(h *history.History, stats *clientstress.Stats, source string) *report.Report {
	o := CheckOptions{Judging: c.Judging, Source: source}
	verdicts := o.certain(h)
	settled := stats.Crashes+stats.Died+stats.Late+stats.Unclear == 0
	if settled {
		verdicts = append(verdicts, linear.Check(h, o.Reading()).Verdict(stats.Operations))
	}
	r := o.report(h, verdicts)
	if p := r.Result(property.Linearizable); p != nil && !settled {
		p.Skip = unsettled
	}
	r.Operations = stats.Operations
	return r
}

// certain judges safety by holds that are certain. It also judges recovery by the audit, unless the run was interrupted
// before it.
func (o *CheckOptions) certain(h *history.History) []linear.Verdict {
	verdicts := judge.Certain(h, o.Reading())
	if recovery, err := judge.Audit(h, judge.Events(h), o.Reading(), beliefs.Before{}); err == nil {
		verdicts = judge.Merge(append(verdicts, recovery...))
	}
	return verdicts
}

// Certain judges a history of external clients without knowledge of their lock and server: safety by holds that are
// certain, and recovery by the audit at the history's end.
func Certain(h *history.History, o CheckOptions) *report.Report {
	r := o.report(h, o.certain(h))
	if p := r.Result(property.Linearizable); p != nil {
		p.Skip = unsettled
	}
	return r
}

// unsettled explains why linearizability of a history is not judged.
const unsettled = "a promise, which is judged where no client dies and every operation has an end"

// tell fills in the report's data about the run, such as the target, the broker and the traffic.
func (c *ExternalStressConfig) tell(r *report.Report, stats *clientstress.Stats) {
	r.Target, r.Doc, r.Mode = c.Name, secret.Command(c.Exec), report.Stressed
	r.Broker, r.Scenarios, r.Elapsed = c.Broker+", straight", stats.Rounds, stats.Elapsed
	r.Exercised = []report.Exercise{
		{Name: "client crash", Scenarios: stats.Crashes}, {Name: "client that ended by itself", Scenarios: stats.Died},
		{Name: "operation that took too long", Scenarios: stats.Late}, {Name: "unknown outcome", Scenarios: stats.Unclear},
	}
	r.Fixed, r.Bounds = engine.ByName(c.Options), c.Load.Words(c.Kind)
	if stats.Wire != nil {
		r.Broker, r.Wire = c.Broker+", through the proxy", engine.OverWire(stats.Wire)
		r.Commands = engine.Received(stats.Wire)
	}
	for i := range r.Properties {
		p := &r.Properties[i]
		if p.Violation != nil && r.Source != "" {
			p.Violation.Command = "lockproof check --audit " + r.Source
		}
	}
}
