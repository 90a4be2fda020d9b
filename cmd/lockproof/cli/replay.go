package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/histories/style"
)

// simulated is the value of --on that means the simulated server.
const simulated = "simulated"

// onFlags say on which broker the command runs.
type onFlags struct{ on string }

func (f *onFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.on, "on", simulated, "the `BROKER`: simulated, rabbitmq (found or started), rabbitmq:4.1 (in a container), or an amqp:// address")
}

// registerServers registers the flags for a command that uses other kinds of servers as well.
func (f *onFlags) registerServers(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().Lookup("on").Usage = "the `SERVER`: simulated, rabbitmq (found or started), redis, mariadb, postgres, consul, one in a container such as rabbitmq:4.1, or an address such as amqp://…"
}

// real reports whether --on asks for a real broker. url is its address; "" if none is given.
func (f *onFlags) real() (url string, real bool) {
	switch {
	case f.on == simulated:
		return "", false
	case f.on == "rabbitmq":
		return "", true
	}
	return f.on, true
}

// start finds or starts the requested broker. A started broker is stopped when the command ends. On a broker that
// others may use, the run is registered; see register. restarts says that the run restarts the broker: then it must be
// one that lockproof starts.
func (f *onFlags) start(c *cobra.Command, restarts bool) (*rabbitmq.Broker, error) {
	url, _ := f.real()
	b, err := started(c, rabbitmq.Options{URL: url, Flag: "--on", Restarts: restarts, Container: containers, Log: tell})
	if err != nil {
		return nil, err
	}
	atEnd(c, b.Stop)
	if b.CanRestart() { // lockproof has started this broker, so there is nothing to register
		return b, nil
	}
	return b, register(c, b)
}

// register registers the run on a broker that others may use, and deletes what killed runs left there. If the
// registration is lost, the command's context ends.
func register(c *cobra.Command, b *rabbitmq.Broker) error {
	ctx, cancel := context.WithCancel(c.Context())
	found, err := b.Register(ctx, func(error) { cancel() }) // b.Stop reports the error
	for _, left := range found.Left {
		tell(left)
	}
	switch {
	case c.Context().Err() != nil:
		return c.Context().Err()
	case err != nil:
		tell(err.Error() + "; what a killed run leaves there stays")
	case found.Runs > 0:
		tell(fmt.Sprintf("deleted what %d killed runs had left on %s", found.Runs, b.Version))
	}
	c.SetContext(ctx)
	return nil
}

// behindGate returns the server behind the gate: a real broker if --on asks for one.
func (f *onFlags) behindGate(c *cobra.Command) (on gated.Server, err error) {
	if _, real := f.real(); !real {
		return on, nil
	}
	broker, err := f.start(c, false)
	if err != nil {
		return on, err
	}
	return gated.Server{
		Name: broker.String(), Shared: true,
		Open: plugin.Config{URL: broker.URL, Sweep: broker.Sweep, Notes: broker, Version: broker.Version}.Open,
	}, nil
}

func replayCommand() *cobra.Command {
	var on onFlags
	var html string
	var trusted bool
	var options []string
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "carry out a counterexample again, on the simulator or on a real server",
		Long: `Carries out the steps of a counterexample on the simulated server and draws them. With
--on rabbitmq or --on amqp://… every command is sent to a real RabbitMQ as well, in the
same order, and what it says is compared with the simulation step by step. Locks on Redis, MariaDB,
PostgreSQL and Consul are carried out there with --on redis, mariadb, postgres, consul or an address.

A counterexample of a program that was judged with --exec has the program run again, and its
commands reach the broker in the recorded order. The broker is the simulated one, or a real
RabbitMQ behind the gate, which is compared with it at every reply.

The program is the command that the file names, and may do all that you may do. So it is
shown and run only if you say so: on a terminal you are asked, elsewhere --run-exec says it.

Where the program is not run, or is a Go test's, --html makes a page of what was recorded. The exit
code is 0 then.

A file has no passwords. Those of the program's command and options that it hides are given
again: by the environment variables that it names, and with -o. An error says which are missing.

A program is tried up to five times, with new processes each time, until it shows the
violation. The exit code is 1 if the property is violated again, and 0 if it is not.`,
		Example: `  lockproof replay counterexamples/locked-is-success.mutual-exclusion.json
  lockproof replay --on rabbitmq counterexamples/my-locks.no-leak.json
  lockproof replay --run-exec --html a.html counterexamples/my-locks.json`,
		GroupID: "look", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ce, err := histories.LoadCounterexample(args[0])
			if err != nil {
				return err
			}
			if err := on.handOver(c); err != nil {
				return err
			}
			if ce.Exec == "" && len(options) > 0 {
				return fmt.Errorf("-o %s: %s has the options of its lock: leave -o out", secret.HideCommand(options[0]), args[0])
			}
			if ce.Exec == "" {
				return replayOurs(c, args, &on, ce, html)
			}
			if html != "" && !trusted && !interactive() {
				return showRecorded(c, ce)
			}
			if err := permit(c, ce.Exec, trusted, args[0]); err != nil {
				return err
			}
			if err := giveAgain(ce, args[0], options); err != nil {
				return err
			}
			return replayExternal(c, &on, ce, html)
		},
	}
	on.registerServers(cmd)
	registerExplorer(cmd)
	cmd.Flags().StringVar(&html, "html", "", "write the diagram and the history as one HTML `FILE`")
	cmd.Flags().BoolVar(&trusted, "run-exec", false, "run the program that the file names, if it names one")
	cmd.Flags().StringArrayVarP(&options, "option", "o", nil, "give a program's option again whose value the file hides, as `NAME=VALUE`")
	return cmd
}

// giveAgain restores the secrets that a counterexample's file hides. If one is missing, the error says how to give it.
func giveAgain(ce *histories.Counterexample, file string, options []string) error {
	given, err := pairs(options)
	if err != nil {
		return err
	}
	if err := ce.GiveAgain(os.LookupEnv, told(given)); err != nil {
		var missing *histories.MissingSecrets
		if errors.As(err, &missing) {
			words := slices.Concat(missing.Variables, []string{"lockproof replay", quote(file)}, missing.Options)
			return fmt.Errorf("%s: %w; give them again, such as: %s", file, err, strings.Join(words, " "))
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// replayOurs replays a counterexample of a lock of this module. args are the command's arguments, in case another
// program with the necessary drivers must run the command.
func replayOurs(c *cobra.Command, args []string, on *onFlags, ce *histories.Counterexample, html string) error {
	r, err := engine.Replay(ce)
	if errors.Is(err, engine.ErrUnknownTarget) && html != "" {
		return showRecorded(c, ce)
	}
	if errors.Is(err, engine.ErrUnknownTarget) {
		return fmt.Errorf("%s is a counterexample of %s, which is no lock of lockproof's. If it is one that a Go test judges, its test carries it out: LOCKPROOF_REPLAY=FILE go test -run TEST; --html draws what was recorded",
			args[0], safetext.Escape(ce.Scenario.Target))
	}
	if err != nil {
		return err
	}
	kind := otherOf(r.Target.Backend)
	_, real := on.real()
	if real && kind != nil && kind.handedOver(on.on) {
		if _, err := kind.address(r.Target.Name, on.on); err != nil {
			return err
		}
		return serversProgram.handOver(c, args)
	}
	if real && kind == nil {
		if err := on.elsewhere(r.Target.Backend, r.Target.Name, unreplayed); err != nil {
			return err
		}
	}
	return show(c, r, html, func(w io.Writer) error {
		switch {
		case real && kind != nil:
			return replayOn(c, kind, on, w, r)
		case real:
			return replayReal(c, on, w, ce, r)
		}
		return verdict(w, ce, r, r.Server)
	})
}

// showRecorded writes a page of a counterexample as it was recorded. It is for users who do not have the program or do
// not want to run it.
func showRecorded(c *cobra.Command, ce *histories.Counterexample) error {
	out := safetext.NewWriter(c.OutOrStdout())
	for i, line := range ce.Transcript {
		fmt.Fprintf(out, "%4d  %s\n", i+1, line)
	}
	fmt.Fprintf(out, "\n%s was violated when this was recorded: %s\nIt was not carried out again", ce.Violation.Name(), ce.Violation.Detail)
	if ce.Exec != "" {
		fmt.Fprintf(out, ": --run-exec runs its program, %s", secret.Command(ce.Exec))
	}
	fmt.Fprintln(out)
	return writePage(c, func() *report.Page {
		return &report.Page{Recorded: []*histories.Counterexample{ce}, Made: report.Made{Tool: engine.Version, At: time.Now(), Command: commandLine(), Server: ce.Origin.Broker}}
	})
}

// permit shows the command that a file wants to run, and returns an error unless the user permits it. trusted says that
// the user has permitted it already.
func permit(c *cobra.Command, command string, trusted bool, file string) error {
	shown := safetext.Escape(secret.Command(command))
	if trusted {
		tell("running " + shown)
		return nil
	}
	if !interactive() {
		return fmt.Errorf("%s names a program, which is not run unless you say so: %s; if you trust it, type: lockproof replay --run-exec %s", file, shown, quote(file))
	}
	yes, err := ask(c.Context(), os.Stdin, c.ErrOrStderr(), fmt.Sprintf("%s names a program:\n\n    %s\n\nRun it? [y/N] ", safetext.Escape(file), shown))
	if err == nil && !yes {
		err = errors.New("the program was not run")
	}
	return err
}

// show prints the result of a replay and its verdict, and writes a page if requested. An output that cannot be written
// does not change the verdict.
func show(c *cobra.Command, r *engine.Replayed, html string, verdict func(io.Writer) error) error {
	undrawn := draw.Draw(c.OutOrStdout(), r.Trace, outputStyle())
	fmt.Fprintln(c.OutOrStdout())
	var said strings.Builder
	ended := verdict(&said)
	for line := range strings.Lines(said.String()) {
		fmt.Fprintln(c.OutOrStdout(), fitted(strings.TrimSuffix(line, "\n")))
	}
	r.Command, r.Said, r.At = commandLine(), said.String(), time.Now()
	return all(ended, undrawn, writePage(c, r.Page))
}

// fitted wraps a line to the width of the terminal.
func fitted(line string) string {
	width := outputStyle().Columns()
	if utf8.RuneCountInString(line) <= width || strings.HasPrefix(line, " ") {
		return line
	}
	return strings.Join(style.Wrap(line, width), "\n")
}

// replayExternal replays a counterexample of an external program, with the simulated broker or a real one behind the
// gate.
func replayExternal(c *cobra.Command, on *onFlags, ce *histories.Counterexample, html string) error {
	broker, err := on.behindGate(c)
	if err != nil {
		return err
	}
	r, err := gated.Replay(c.Context(), ce, &subprocess.Starter{Command: ce.Exec, Stderr: c.ErrOrStderr()}, broker)
	if err != nil {
		return err
	}
	return show(c, r, html, func(w io.Writer) error { return verdict(w, ce, r, r.Server) })
}

// verdict prints whether the property was violated again. If the violation was only suspected, it prints the recorded
// execution.
func verdict(w io.Writer, ce *histories.Counterexample, r *engine.Replayed, broker string) error {
	again := ""
	if r.Tries.Of > 1 {
		again = fmt.Sprintf(", in %d of %d tries", r.Tries.Shown, r.Tries.Of)
	}
	if r.Violation != nil {
		fmt.Fprintf(w, "%s is violated on %s%s: %s\n", ce.Property, safetext.Escape(broker), again, safetext.Escape(r.Violation.Explain()))
		return errViolated
	}
	fmt.Fprintf(w, "%s is not violated on %s%s\n", ce.Property, safetext.Escape(broker), again)
	if ce.Suspected {
		fmt.Fprintf(w, "\nit is suspected since this was seen: %s\n", safetext.Escape(ce.Violation.Detail))
		for _, line := range ce.Transcript {
			fmt.Fprintln(w, " ", safetext.Escape(line))
		}
	}
	return nil
}

// replayReal replays the counterexample on a real broker, and reports how the broker's replies differ.
func replayReal(c *cobra.Command, on *onFlags, w io.Writer, ce *histories.Counterexample, r *engine.Replayed) error {
	broker, err := on.start(c, ce.Scenario.Restarts())
	if err != nil {
		return err
	}
	real, err := rabbitmq.Replay(c.Context(), broker, r.Target, r.Trace, rabbitmq.ReplayOptions{})
	if err != nil {
		return err
	}
	r.Server = broker.String()
	fmt.Fprintln(safetext.NewWriter(w), real)
	if real.Skipped != "" {
		return fmt.Errorf("replaying on %s: skipped: %s", broker, real.Skipped)
	}
	if r.Violation == nil || !real.Reproduces(*r.Violation) {
		return nil
	}
	return errViolated
}
