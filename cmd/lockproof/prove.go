package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// proveFlags are what `prove` is told.
type proveFlags struct {
	seed      uint64
	scenarios int
	time      time.Duration
	strategy  string
	depth     int
	strict    bool
	options   []string
	workers   int
	execFlags
	stressFlags
	onFlags
	outputFlags
}

func proveCommand() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove [TARGET]",
		Short: "judge a lock: the reference semaphore unless another target is named",
		Long: `Draws scenarios (clients, operations, options, faults, schedule) from a seed, runs them
on the simulated broker, judges every property, and prints the card. What violates
a property is minimised and written as a counterexample that replays.

With --on rabbitmq or --on amqp://… the target runs on a real RabbitMQ instead: many
clients at once, as fast as they can, and the recorded history is judged.

With --exec anybody's lock is judged, in any language: the command is run for each
client and called over its standard input and output, and what it sends to the broker
waits until the schedule lets it through. With --stress there is no schedule, and a real
broker is asked for by --on: many clients at once, as fast as they can.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "what decides every scenario")
	flags.IntVar(&f.scenarios, "scenarios", lockproof.DefaultScenarios, "how many to run")
	flags.DurationVar(&f.time, "time", 0, "end the run earlier, such as 30s")
	flags.StringVar(&f.strategy, "strategy", "", "how schedules are drawn: random or pct (default both)")
	flags.IntVar(&f.depth, "depth", 0, "PCT's depth (default drawn from 1 to 4)")
	flags.BoolVar(&f.strict, "strict", false, "a failed acquire promises that at one moment every slot was taken")
	flags.StringArrayVarP(&f.options, "option", "o", nil, "fix an option, as `NAME=VALUE`; the command list shows them")
	flags.IntVar(&f.workers, "workers", 0, "how many run at once (default one a processor); the result is the same")
	f.execFlags.register(cmd)
	f.onFlags.register(cmd)
	f.stressFlags.register(cmd)
	f.outputFlags.register(cmd)
	return cmd
}

func (f *proveFlags) run(c *cobra.Command, args []string) error {
	if f.exec != "" {
		return f.foreign(c, args)
	}
	if err := given(c, "without --exec: expected the command of the lock that is meant", "lock-type", "patience"); err != nil {
		return err
	}
	if f.way != "" {
		return errors.New("--stress without --exec: a target of ours is always put under stress on a real broker: leave --stress out, or name a command")
	}
	cfg, err := f.config(args)
	if err != nil {
		return err
	}
	if _, real := f.real(); real {
		return f.stress(c, cfg)
	}
	line := newProgress()
	cfg.Progress = func(p lockproof.Progress) {
		line.say("%d of %d scenarios, %d properties violated", p.Scenarios, p.Of, p.Violated)
	}
	res, err := lockproof.Prove(c.Context(), cfg)
	line.done()
	if err != nil {
		return err
	}
	return f.write(c, res)
}

func (f *proveFlags) config(args []string) (lockproof.Config, error) {
	cfg := lockproof.Config{Seed: f.seed, Scenarios: f.scenarios, Time: f.time, Depth: f.depth, Workers: f.workers}
	name := "semaphore"
	if len(args) == 1 {
		name = args[0]
	}
	var err error
	if cfg.Target, err = lockproof.TargetNamed(name); err != nil {
		return cfg, err
	}
	if cfg.Options, err = pairs(f.options); err != nil {
		return cfg, err
	}
	if f.strict {
		cfg.Strength = spec.Strict
	}
	if f.scenarios < 1 {
		return cfg, fmt.Errorf("--scenarios %d: expected at least 1", f.scenarios)
	}
	if f.strategy != "" {
		var s scenario.Strategy
		if err := s.UnmarshalText([]byte(f.strategy)); err != nil || s == scenario.Replay {
			return cfg, fmt.Errorf("--strategy %q: expected random or pct", f.strategy)
		}
		cfg.Strategies = []scenario.Strategy{s}
	}
	return cfg, nil
}
