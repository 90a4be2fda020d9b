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

// ExternalStressConfig says whose lock to put under stress on which broker, how, and how much.
type ExternalStressConfig struct {
	clientstress.Config
	// Exec is the command behind the clients, for the report; "" where there is none.
	Exec string
	// Name is what the target is called; "" is what its clients call themselves.
	Name string
	// Broker is what the broker calls itself, for the report: "RabbitMQ 3.10.8".
	Broker string
	engine.Judging
	// Keep is given the history of a target before it is judged, so that it is there whatever happens next,
	// and says where it has put it. It may be nil.
	Keep func(h *history.History, target string) (source string, err error)
}

// StressExternal has external clients use a lock on a real broker, all at once, and judges the history: see
// [clientstress.Run]. The error is for a run that could not be made, or ended early: ctx, a client that can't be started, or
// one that breaks the protocol. The result has what was seen until then; it is nil if there was nothing.
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

// judged judges a history as what passes the gate is judged: safety by certain holds, recovery by the audit, and whether it is
// linearizable, which is a promise, where nothing went wrong.
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

// certain gives the verdicts of safety by certain holds, and of recovery by the audit, unless the run was interrupted.
func (o *CheckOptions) certain(h *history.History) []linear.Verdict {
	verdicts := judge.Certain(h, o.Reading())
	if recovery, err := judge.Audit(h, judge.Events(h), o.Reading(), beliefs.Before{}); err == nil {
		verdicts = judge.Merge(append(verdicts, recovery...))
	}
	return verdicts
}

// Certain judges a history of somebody else's clients, of whose lock and server nothing else is known: safety by certain holds, and
// recovery by the audit that it ends with.
func Certain(h *history.History, o CheckOptions) *report.Report {
	r := o.report(h, o.certain(h))
	if p := r.Result(property.Linearizable); p != nil {
		p.Skip = unsettled
	}
	return r
}

// unsettled is why it is not judged whether a history is linearizable.
const unsettled = "a promise, which is judged where no client dies and every operation has an end"

// tell adds to a report of the history what is known of the run.
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
