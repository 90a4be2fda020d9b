package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/adapters/process"
	"github.com/lockproof/lockproof/model/lock"
)

// execFlags say whose program is judged.
type execFlags struct {
	exec     string
	lockType string
	patience time.Duration
}

func (f *execFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.exec, "exec", "", "judge the lock behind this `COMMAND`, run once for each client")
	flags.StringVar(&f.lockType, "lock-type", "semaphore", "with --exec, what it is: semaphore, mutex or persistent-mutex")
	flags.DurationVar(&f.patience, "patience", 2*time.Second, "with --exec, how long a client may send nothing before the others go on without it")
}

// foreign judges somebody else's program.
func (f *proveFlags) foreign(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q beside --exec: expected one of a target's name and a command", args[0])
	}
	cfg, err := f.config(nil)
	if err != nil {
		return err
	}
	kind, err := lock.KindNamed(f.lockType)
	if err != nil {
		return fmt.Errorf("--lock-type: %w", err)
	}
	if f.patience <= 0 {
		return fmt.Errorf("--patience %v: expected more than nothing", f.patience)
	}
	scenarios := f.scenarios
	if !c.Flags().Changed("scenarios") {
		scenarios = lockproof.DefaultForeignScenarios
	}
	options := make(map[string]string)
	for _, o := range cfg.Options {
		options[o[0]] = o[1]
	}
	if f.way != "" {
		return f.stressForeign(c, kind, options, cfg.Strength)
	}
	on, stop, err := f.behindGate(c)
	if err != nil {
		return err
	}
	defer stop()
	line := newProgress()
	res, err := lockproof.ProveForeign(c.Context(), lockproof.ForeignConfig{
		Starter: &process.Starter{Command: f.exec, Stderr: c.ErrOrStderr()}, Exec: f.exec, Kind: kind, Options: options,
		Seed: f.seed, Scenarios: scenarios, Time: f.time, Strategies: cfg.Strategies, Depth: f.depth, Strength: cfg.Strength,
		Workers: f.workers, Patience: f.patience, On: on,
		Progress: func(p lockproof.Progress) {
			line.say("%d of %d scenarios, %d properties violated", p.Scenarios, p.Of, p.Violated)
		},
	})
	line.done()
	if err != nil {
		return err
	}
	return f.write(c, res)
}
