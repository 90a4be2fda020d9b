package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
)

// stressFlags say what is done to a real broker.
type stressFlags struct {
	clients, admins, slots, rounds, restarts int
	crashes                                  float64
	way                                      string // of somebody else's clients to the broker; "" is no stress
}

func (f *stressFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.clients, "clients", 5, "on a real broker: clients that acquire")
	flags.IntVar(&f.admins, "admins", 1, "on a real broker: clients that administer")
	flags.IntVar(&f.slots, "slots", 2, "on a real broker: slots to begin with")
	flags.IntVar(&f.rounds, "rounds", 200, "on a real broker: how often all begin at one instant")
	flags.Float64Var(&f.crashes, "crashes", 0.02, "on a real broker: the share of operations in which a client dies")
	flags.StringVar(&f.way, "stress", "", "with --exec, no schedule: many clients at once on a real broker, `straight` or through a proxy that counts (proxy)")
	flags.IntVar(&f.restarts, "restarts", 0, "on a real broker that is started here: how often it is restarted")
}

// load is how much is done to the broker.
func (f *stressFlags) load(seed uint64) stress.Load {
	return stress.Load{
		Slots: f.slots, Clients: f.clients, Admins: f.admins, Rounds: f.rounds, Verifies: 2, Crashes: f.crashes, Seed: seed,
	}
}

// stressConfig is the stress that fits a target.
func (f *proveFlags) stressConfig(cfg *lockproof.Config) (rabbitmq.StressConfig, error) {
	o := lock.DefaultOptions()
	for _, opt := range cfg.Options {
		if err := o.Set(opt[0], opt[1]); err != nil {
			return rabbitmq.StressConfig{}, err
		}
	}
	return rabbitmq.StressConfig{
		Target: cfg.Target, Options: o, Load: f.load(f.seed).Fit(cfg.Target.Kind), Restarts: f.restarts,
	}, nil
}

// stress has the target used on a real broker, by many clients at once, and judges what they saw.
func (f *proveFlags) stress(c *cobra.Command, cfg lockproof.Config) error {
	s, err := f.stressConfig(&cfg)
	if err != nil {
		return err
	}
	broker, err := f.start(c)
	if err != nil {
		return err
	}
	defer broker.Stop()
	line := newProgress()
	s.Progress = func(rounds, of int) { line.say("round %d of %d on %s", rounds, of, broker.Version) }
	h, stats, err := rabbitmq.Stress(c.Context(), broker, s)
	line.done()
	if h == nil {
		return err
	}
	if err != nil && !errors.Is(err, c.Context().Err()) {
		tell("the run ended early: " + oneLine(err))
	}
	source, err := f.keep(h, cfg.Target.Name)
	if err != nil {
		return err
	}
	report, err := lockproof.Check(h, lockproof.CheckOptions{Strength: cfg.Strength, Source: source})
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	report.Target, report.Doc, report.Mode = cfg.Target.Name, cfg.Target.Doc, histories.Stressed
	report.Broker, report.Scenarios, report.Commands, report.Elapsed = broker.Version, stats.Rounds, stats.Commands, stats.Elapsed
	report.Efficiency = lockproof.Efficiency(&stats.Costs)
	report.Exercised = []histories.Exercise{
		{Name: "client crash", Scenarios: stats.Crashes}, {Name: "connection dropped by the broker", Scenarios: stats.Dropped},
		{Name: "broker restart", Scenarios: stats.Restarts},
	}
	report.Interrupted = c.Context().Err() != nil
	return f.write(c, &lockproof.Result{Report: report})
}

// keep writes the history before it is judged, so that it is there whatever happens next.
func (f *proveFlags) keep(h *spec.History, target string) (string, error) {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return "", fmt.Errorf("history: %w; --out names another directory", err)
	}
	path := filepath.Join(f.out, histories.HistoryName(target))
	err := histories.Replace(path, func(w io.Writer) error { return histories.WriteHistory(w, h) })
	return path, err
}
