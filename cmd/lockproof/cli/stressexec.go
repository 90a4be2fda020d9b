package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/subprocess"
)

// checkStress returns an error for flags that a stress run of external clients does not support.
func (f *proveFlags) checkStress(c *cobra.Command) error {
	_, real := f.real()
	switch {
	case f.way != "straight" && f.way != "proxy":
		return fmt.Errorf("--stress %q: expected straight or proxy", f.way)
	case !real:
		return errors.New("--stress without a real broker: expected --on rabbitmq or --on amqp://…")
	}
	return given(c, "with --exec: expected none; only targets of ours are told that the broker is gone", "restarts")
}

// stressExternal lets many clients of an external program use its lock at once on a real broker, and judges the
// history.
func (f *proveFlags) stressExternal(c *cobra.Command, cfg *gated.Config) error {
	if err := cmp.Or(given(c, "with --stress: nothing is looked up at the broker; leave it out", "holding"),
		given(c, "with --stress: clients wait at no gate; leave it out, --limit says how long a call may take", "patience")); err != nil {
		return err
	}
	load, err := f.load(c, cfg.Kind, cfg.Seed)
	if err != nil {
		return err
	}
	broker, err := f.start(c, false)
	if err != nil {
		return err
	}
	if f.way == "straight" && !broker.CanRestart() {
		tell("straight, so that it is not seen what the clients make: what has other names than the guidelines' stays on " + broker.Version)
	}
	line := newProgress()
	load.Progress = func(rounds, of int) { line.part(rounds, of, "round %d of %d on %s", rounds, of, broker.Version) }
	told := make(map[string]any)
	for name, value := range cfg.Options {
		told[name] = value
	}
	res, err := recorded.StressExternal(c.Context(), recorded.ExternalStressConfig{
		Config: clientstress.Config{
			Starter: &subprocess.Starter{Command: cfg.Exec, Stderr: c.ErrOrStderr(), Parallel: true}, Kind: cfg.Kind, Options: told, URL: broker.URL,
			Proxy: f.way == "proxy", Load: load, Limit: f.limit, Sweep: broker.Sweep, Notes: broker,
		},
		Exec: cfg.Exec, Broker: broker.String(), Judging: cfg.Judging, Keep: f.keep,
	})
	line.done()
	if res == nil {
		return err
	}
	return f.write(c, res, err)
}
