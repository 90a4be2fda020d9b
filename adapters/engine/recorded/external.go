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

// ExternalStressConfig says which external lock to stress on which broker, how, and how much.
type ExternalStressConfig struct {
	clientstress.Config
	// Exec is the command of the clients, for the report; "" if there is none.
	Exec string
	// Name is the name of the target; "" is the name that its clients give.
	Name string
	// Broker is the broker's name for itself, for the report: "RabbitMQ 3.10.8".
	Broker string
	engine.Judging
	// Keep stores the history of a target before it is judged, so that it is not lost whatever happens next. source says
	// where it is. Keep may be nil.
	Keep func(h *history.History, target string) (source string, err error)
}

// StressExternal makes external clients use a lock concurrently on a real broker, and judges the history: see
// [clientstress.Run]. The error is for a run that could not be carried out, or ended early: ctx ended, a client can't be
// started, or a client breaks the protocol. The result contains what was seen until then; it is nil if that is nothing.
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

// judged judges a history by the rules for what passes the gate: safety by certain holds; recovery by the audit; and
// linearizability, which is a promise, if nothing went wrong.
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

// certain are the verdicts of safety by certain holds and, unless the run was interrupted, of recovery by the audit.
func (o *CheckOptions) certain(h *history.History) []linear.Verdict {
	verdicts := judge.Certain(h, o.Reading())
	if recovery, err := judge.Audit(h, judge.Events(h), o.Reading(), beliefs.Before{}); err == nil {
		verdicts = judge.Merge(append(verdicts, recovery...))
	}
	return verdicts
}

// Certain judges a history of external clients about whose lock and server nothing else is known: safety by certain holds,
// and recovery by the audit at its end.
func Certain(h *history.History, o CheckOptions) *report.Report {
	r := o.report(h, o.certain(h))
	if p := r.Result(property.Linearizable); p != nil {
		p.Skip = unsettled
	}
	return r
}

// unsettled is the reason why linearizability of a history is not judged.
const unsettled = "a promise, which is judged where no client dies and every operation has an end"

// tell adds to the report of a history what is known of the run.
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
