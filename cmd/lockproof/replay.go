package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/adapters/process"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/histories"
)

// simulated is what --on calls the simulated broker.
const simulated = "simulated"

// onFlags say on what broker.
type onFlags struct{ on, broker string }

func (f *onFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.on, "on", simulated, "the broker: simulated, rabbitmq (found or started), or an amqp:// address")
	cmd.Flags().StringVar(&f.broker, "broker", "", "the amqp:// address of a RabbitMQ; the same as --on")
}

// real reports whether a real broker is asked for, and its address if one is named.
func (f *onFlags) real() (url string, real bool) {
	switch {
	case f.broker != "":
		return f.broker, true
	case f.on == simulated:
		return "", false
	case f.on == "rabbitmq":
		return "", true
	}
	return f.on, true
}

// start finds or starts the broker that is asked for.
func (f *onFlags) start(c *cobra.Command) (*rabbitmq.Broker, error) {
	url, _ := f.real()
	return rabbitmq.Start(c.Context(), rabbitmq.Options{URL: url, Log: tell})
}

// behindGate is the broker that the gate is to stand before. The caller calls stop.
func (f *onFlags) behindGate(c *cobra.Command) (on lockproof.ForeignBroker, stop func(), err error) {
	if _, real := f.real(); !real {
		return on, func() {}, nil
	}
	broker, err := f.start(c)
	if err != nil {
		return on, nil, err
	}
	return lockproof.ForeignBroker{URL: broker.URL, Version: broker.Version, Sweep: broker.Sweep}, func() { broker.Stop() }, nil
}

func replayCommand() *cobra.Command {
	var on onFlags
	var html string
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "carry out a counterexample again, on the simulator or on a real RabbitMQ",
		Long: `Carries out the steps of a counterexample on the simulated broker and draws them. With
--on rabbitmq or --on amqp://… every command is sent to a real RabbitMQ as well, in the
same order, and what it says is compared with the simulation step by step.

A counterexample of a program that was judged with --exec has the program run again, and its
commands reach the broker in the recorded order: the simulated one, or a real RabbitMQ
behind the gate, which is compared with it at every reply.

The exit code is 1 if the property is violated again, and 0 if it is not.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ce, err := histories.LoadCounterexample(args[0])
			if err != nil {
				return err
			}
			if ce.Exec != "" {
				return replayForeign(c, &on, ce, html)
			}
			r, err := lockproof.Replay(ce)
			if err != nil {
				return err
			}
			if err := show(c, r, html); err != nil {
				return err
			}
			if _, real := on.real(); real {
				return replayReal(c, &on, ce, r)
			}
			return verdict(c.OutOrStdout(), ce, r.Violation != nil, "the simulated broker")
		},
	}
	on.register(cmd)
	cmd.Flags().StringVar(&html, "html", "", "write the diagram and the history as one HTML `FILE`")
	return cmd
}

// show draws what a replay came to, on the terminal and, where one is asked for, as a page.
func show(c *cobra.Command, r *lockproof.Replayed, html string) error {
	if err := histories.Draw(c.OutOrStdout(), r.Trace, style()); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout())
	if html == "" {
		return nil
	}
	if err := histories.Replace(html, func(w io.Writer) error { return r.WritePage(w) }); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

// replayForeign carries out a counterexample of somebody else's program, whose commands wait at the gate of
// the simulated broker or of a real one.
func replayForeign(c *cobra.Command, on *onFlags, ce *histories.Counterexample, html string) error {
	broker, stop, err := on.behindGate(c)
	if err != nil {
		return err
	}
	defer stop()
	r, err := lockproof.ReplayForeign(c.Context(), ce, &process.Starter{Command: ce.Exec, Stderr: c.ErrOrStderr()}, broker)
	if err != nil {
		return err
	}
	if err := show(c, r, html); err != nil {
		return err
	}
	return verdict(c.OutOrStdout(), ce, r.Violation != nil, broker.String())
}

// verdict says whether the property was violated again.
func verdict(w io.Writer, ce *histories.Counterexample, violated bool, broker string) error {
	if !violated {
		fmt.Fprintf(w, "%s is not violated on %s\n", ce.Property, broker)
		return nil
	}
	fmt.Fprintf(w, "%s is violated on %s: %s\n", ce.Property, broker, ce.Violation.Detail)
	return errViolated
}

// replayReal carries out the counterexample on a real broker.
func replayReal(c *cobra.Command, on *onFlags, ce *histories.Counterexample, r *lockproof.Replayed) error {
	broker, err := on.start(c)
	if err != nil {
		return err
	}
	defer broker.Stop()
	real, err := rabbitmq.Replay(c.Context(), broker, r.Target, r.Trace, rabbitmq.ReplayOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), real)
	if real.Skipped != "" {
		return fmt.Errorf("replaying on %s: skipped: %s", broker.Version, real.Skipped)
	}
	if r.Violation == nil || !real.Reproduces(*r.Violation) {
		return nil
	}
	return errViolated
}
