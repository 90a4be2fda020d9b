package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// stressConfig is the stress that fits a target.
func (f *proveFlags) stressConfig(c *cobra.Command, cfg *engine.Config) (rabbitmq.StressConfig, error) {
	o := lock.DefaultOptions()
	for _, opt := range cfg.Options {
		if err := o.Set(opt[0], opt[1]); err != nil {
			return rabbitmq.StressConfig{}, err
		}
	}
	load, err := f.load(c, cfg.Target.Kind, f.seed)
	return rabbitmq.StressConfig{Target: cfg.Target, Options: o, Load: load, Restarts: f.restarts}, err
}

// stress has the target used on a real broker, by many clients at once, and judges what they saw.
func (f *proveFlags) stress(c *cobra.Command, cfg engine.Config) error {
	s, err := f.stressConfig(c, &cfg)
	if err != nil {
		return err
	}
	broker, err := f.start(c, f.restarts > 0)
	if err != nil {
		return err
	}
	line := newProgress()
	s.Progress = func(rounds, of int) { line.say("round %d of %d on %s", rounds, of, broker.Version) }
	h, stats, err := rabbitmq.Stress(c.Context(), broker, s)
	line.done()
	if h == nil {
		return err
	}
	source, unkept := f.keep(h, cfg.Target.Name)
	judged, unjudged := engine.Check(h, engine.CheckOptions{Strength: cfg.Strength, Source: source, Properties: cfg.Properties})
	if unjudged != nil {
		return all(fmt.Errorf("the history of %s: %w", cfg.Target.Name, unjudged), unkept, err)
	}
	judged.Target, judged.Doc, judged.Mode = cfg.Target.Name, cfg.Target.Doc, report.Stressed
	judged.Broker, judged.Scenarios, judged.Commands, judged.Elapsed = broker.String(), stats.Rounds, stats.Commands, stats.Elapsed
	judged.Efficiency = engine.Efficiency(&stats.Costs, judged.Kind)
	judged.Exercised = []report.Exercise{
		{Name: "client crash", Scenarios: stats.Crashes}, {Name: "connection dropped by the broker", Scenarios: stats.Dropped},
		{Name: "broker restart", Scenarios: stats.Restarts},
	}
	judged.Fixed, judged.Bounds = f.options, s.Load.Words(cfg.Target.Kind)
	judged.Interrupted = stats.Rounds < s.Rounds || c.Context().Err() != nil
	return f.write(c, &engine.Result{Report: judged}, err, unkept)
}

// keep writes the history before it is judged, so that it is there whatever happens next, and says where.
func (f *proveFlags) keep(h *history.History, target string) (path string, err error) {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return "", fmt.Errorf("history: %w; --out names another directory", err)
	}
	path = filepath.Join(f.out, histories.HistoryName(target))
	if err := outfile.Write(path, func(w io.Writer) error { return histories.WriteHistory(w, h) }); err != nil {
		return "", fmt.Errorf("history: %w", err)
	}
	return path, nil
}
