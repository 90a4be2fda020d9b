package recorded

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// StressConfig says which lock of this module to stress, and with which load.
type StressConfig struct {
	Target *lock.Target
	// Options are the options to change from their defaults, by name and value.
	Options [][2]string
	Load    stress.Load
	// Restarts is the number of broker restarts during the run. Unless it is 0, lockproof must have started the broker.
	Restarts int
	engine.Judging
	// Keep stores the history before it is judged. source says where the history is stored. Keep may be nil.
	Keep func(h *history.History, target string) (source string, err error)
}

// Stress makes clients of a lock of this module use the lock at once on a real broker, and judges the history: see
// [rabbitmq.Stress]. It returns an error if the run failed or ended early. The result covers the run until the error;
// it is nil if there is no history.
func Stress(ctx context.Context, b *rabbitmq.Broker, c StressConfig) (*engine.Result, error) {
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	h, stats, err := rabbitmq.Stress(ctx, b, rabbitmq.StressConfig{Target: c.Target, Options: options, Load: c.Load, Restarts: c.Restarts})
	if h == nil {
		return nil, err
	}
	source := ""
	if c.Keep != nil {
		var unkept error
		source, unkept = c.Keep(h, c.Target.Name)
		err = errors.Join(err, unkept)
	}
	r, unjudged := Check(h, CheckOptions{Judging: c.Judging, Source: source})
	if unjudged != nil {
		return nil, errors.Join(fmt.Errorf("the history of %s: %w", c.Target.Name, unjudged), err)
	}
	r.Target, r.Doc, r.Mode = c.Target.Name, c.Target.Doc, report.Stressed
	r.Broker, r.Scenarios, r.Commands, r.Elapsed = b.String(), stats.Rounds, stats.Commands, stats.Elapsed
	r.Efficiency = engine.Efficiency(&stats.Costs, r.Kind, property.Of(c.Target))
	r.Exercised = []report.Exercise{
		{Name: "client crash", Scenarios: stats.Crashes}, {Name: "connection dropped by the broker", Scenarios: stats.Dropped},
		{Name: "broker restart", Scenarios: stats.Restarts},
	}
	r.Fixed, r.Bounds = engine.Assigned(lock.Renamed(lock.BackendOf(c.Target).Defaults, c.Options)), c.Load.Words(c.Target.Kind)
	r.Interrupted = stats.Rounds < c.Load.Rounds || ctx.Err() != nil
	return &engine.Result{Report: r}, err
}

// Check returns an error if the options are invalid for the target.
func (c *StressConfig) Check() error {
	_, err := c.options()
	return err
}

func (c *StressConfig) options() (lock.Options, error) {
	o, err := engine.OptionsOf(c.Target, c.Options)
	if err != nil {
		return nil, engine.Configuration(err)
	}
	return o, nil
}
