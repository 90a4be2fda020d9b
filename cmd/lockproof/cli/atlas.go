package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine/atlas"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/question"
)

// atlasFlags are the flags of `atlas`.
type atlasFlags struct {
	server              string
	questions           []int
	json                bool
	markdown, html, out string
	onFlags
}

func atlasCommand() *cobra.Command {
	var f atlasFlags
	cmd := &cobra.Command{
		Use:   "atlas",
		Short: "answer the guidelines' open questions",
		Long: `Answers the questions that the guidelines leave open, or with --server those of the
locks on another kind of server: for each, configurations of which
every execution is visited, the verdict on every property, short counterexamples, and
the command that repeats it. A number of steps is the least there is with no more slots
and calls; where that is not known, it says "at most". Then it looks for the smallest
set of options under which all properties are proved, and proves those for any number of
clients.

With --on rabbitmq or --on amqp://… each counterexample is replayed step by step on a
real RabbitMQ.`,
		Example: `  lockproof atlas
  lockproof atlas --question 1,2 --html atlas.html`,
		GroupID: "study", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "amqp", "whose locks the questions are about: "+strings.Join(question.Servers(), ", "))
	flags.IntSliceVar(&f.questions, "question", nil, "answer only these, by number")
	flags.BoolVar(&f.json, "json", false, "print the atlas as JSON")
	flags.StringVar(&f.markdown, "markdown", "", "write it as Markdown to a `FILE`")
	flags.StringVar(&f.html, "html", "", "write it as one HTML `FILE`")
	flags.StringVar(&f.out, "out", "", "write the counterexamples to a `DIRECTORY`")
	f.onFlags.register(cmd)
	return cmd
}

func (f *atlasFlags) run(c *cobra.Command) error {
	if err := f.onFlags.check(c); err != nil {
		return err
	}
	line := newProgress()
	cfg := atlas.Config{Server: f.server, Questions: f.questions, Progress: func(what string) { line.say("%s", what) }}
	if _, real := f.real(); real {
		broker, err := f.start(c, false)
		if err != nil {
			return err
		}
		cfg.Real = broker.String()
		cfg.Confirm = func(t *scenario.Trace, target *lock.Target, v scenario.Violation) (string, error) {
			return confirm(c, broker, t, target, v)
		}
		cfg.Agree = func(t *scenario.Trace, target *lock.Target) (bool, string, error) {
			r, err := rabbitmq.Replay(c.Context(), broker, target, t, rabbitmq.ReplayOptions{})
			if err != nil {
				return false, "", err
			}
			return r.Agrees(), r.Skipped, nil
		}
	}
	a, err := atlas.Answer(c.Context(), cfg)
	line.done()
	if a == nil {
		return fmt.Errorf("--%w", err)
	}
	return all(err, f.write(c, a))
}

// confirm says what a real broker makes of a counterexample.
func confirm(c *cobra.Command, broker *rabbitmq.Broker, t *scenario.Trace, target *lock.Target, v scenario.Violation) (string, error) {
	r, err := rabbitmq.Replay(c.Context(), broker, target, t, rabbitmq.ReplayOptions{})
	switch {
	case err != nil:
		return "", err
	case r.Skipped != "":
		return "skipped: " + r.Skipped, nil
	case r.Reproduces(v):
		return "RabbitMQ agrees", nil
	}
	return "RabbitMQ differs: " + r.String(), nil
}

// write writes what there is of an atlas. The error is for what could not be written.
func (f *atlasFlags) write(c *cobra.Command, a *report.Atlas) error {
	a.Command, a.At = commandLine(), time.Now()
	unsaved := f.save(a)
	return all(f.print(c.OutOrStdout(), a), unsaved,
		writeFile("--markdown", f.markdown, func(w io.Writer) error { return report.WriteAtlasMarkdown(w, a) }),
		writeFile("--html", f.html, func(w io.Writer) error { return report.WriteAtlasPage(w, a) }),
	)
}

func (f *atlasFlags) print(w io.Writer, a *report.Atlas) error {
	if f.json {
		return report.WriteAtlasJSON(w, a)
	}
	return report.WriteAtlas(w, a, outputStyle())
}

func (f *atlasFlags) save(a *report.Atlas) error {
	if f.out == "" {
		return nil
	}
	var errs []error
	for name, ce := range a.Counterexamples() {
		errs = append(errs, saveIn(f.out, filepath.Join(f.out, name), ce))
	}
	return all(errs...)
}
