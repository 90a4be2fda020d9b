package recorded

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/external/clientstress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/own"
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
	// FailedAcquire is what a failed acquire is taken to promise.
	FailedAcquire property.FailedAcquire
	// Properties are those to judge; empty is all that apply.
	Properties property.Set
	// Own are users' own properties, which are skipped.
	Own own.List
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
		return nil, errors.Join(fmt.Errorf("stress of %s through the proxy: %w", c.Name, external.ErrElsewhere), err)
	}
	report, unjudged := Check(h, CheckOptions{FailedAcquire: c.FailedAcquire, Source: source, Properties: c.Properties, Own: c.Own})
	if unjudged != nil {
		return nil, errors.Join(fmt.Errorf("the history of %s: %w", c.Name, unjudged), err)
	}
	c.tell(report, stats)
	report.Interrupted = stats.Rounds < c.Rounds || ctx.Err() != nil
	return &engine.Result{Report: report}, err
}

// unseen is said of a verdict that would be worth more if it had been seen what clients send.
const unseen = "why an acquire got nothing was not seen"

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
		if p.Property == property.Linearizable && stats.Wire == nil {
			p.Note = unseen
		}
		if p.Violation != nil && r.Source != "" {
			p.Violation.Command = "lockproof check " + r.Source
		}
	}
}
