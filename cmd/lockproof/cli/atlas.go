package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine/atlas"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/question"
)

// atlasFlags are the flags of `atlas`.
type atlasFlags struct {
	server    string
	questions []int
	json      bool
	html, out string
	onFlags
}

func atlasCommand() *cobra.Command {
	var f atlasFlags
	cmd := &cobra.Command{
		Use:   "atlas",
		Short: "answer the guidelines' open questions",
		Long: `Answers the questions that the guidelines leave open, or with --server those of the
locks on another kind of server. Each answer has configurations of which every execution is
visited, the verdict on every property, short counterexamples, and the command that repeats
it. A number of steps is the least there is with no more slots and calls; if that is not
known, it says "at most". Then it looks for the smallest set of options under which all
properties are proved, and proves those for any number of clients.

With --on rabbitmq or --on amqp://… each counterexample is replayed step by step on a real
RabbitMQ. Counterexamples of locks on Redis, MariaDB, PostgreSQL and Consul are replayed
with --on redis, mariadb, postgres, consul or an address. Answers that are numbers and no
executions are measured there as well.`,
		Example: `  lockproof atlas
  lockproof atlas --question 1,2 --html atlas.html`,
		GroupID: "study", Args: cobra.NoArgs,
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "amqp", "whose locks the questions are about: "+strings.Join(question.Servers(), ", "))
	flags.IntSliceVar(&f.questions, "question", nil, "answer only these, by number")
	flags.BoolVar(&f.json, "json", false, "print the atlas as JSON")
	registerTables(cmd)
	flags.StringVar(&f.html, "html", "", "write it as one HTML `FILE`")
	flags.StringVar(&f.out, "out", "", "write the counterexamples to a `DIRECTORY`")
	f.onFlags.registerServers(cmd)
	return cmd
}

func (f *atlasFlags) run(c *cobra.Command, args []string) error {
	line := newProgress()
	cfg := atlas.Config{Server: f.server, Questions: f.questions, Progress: func(what string) { line.say("%s", what) }}
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("--%w", err)
	}
	if err := f.handOver(c); err != nil {
		return err
	}
	if _, real := f.real(); real {
		kind := otherOf(f.server)
		if kind != nil && kind.handedOver(f.on) {
			if _, err := kind.address(f.locks(), f.on); err != nil {
				return err
			}
			return serversProgram.handOver(c, args)
		}
		ask := f.onBroker
		if kind != nil {
			ask = func(c *cobra.Command, cfg *atlas.Config) error { return f.onServer(c, kind, cfg) }
		}
		if err := ask(c, &cfg); err != nil {
			return err
		}
	}
	a, err := atlas.Answer(c.Context(), cfg)
	line.done()
	if a == nil {
		return fmt.Errorf("--%w", err)
	}
	return all(err, f.write(c, a))
}

// locks returns words for error messages: the locks that the atlas of --server asks about.
func (f *atlasFlags) locks() string { return "what --server " + f.server + " asks about" }

// onBroker configures the atlas to confirm counterexamples on a real RabbitMQ.
func (f *atlasFlags) onBroker(c *cobra.Command, cfg *atlas.Config) error {
	if err := f.elsewhere(f.server, f.locks(), unreplayed); err != nil {
		return err
	}
	if kind := kindNamed(f.on); kind != nil {
		return fmt.Errorf("--on %s: %s stands on a broker: expected --server %s as well, or --on rabbitmq", f.on, f.locks(), kind.backend)
	}
	broker, err := f.start(c, false)
	if err != nil {
		return err
	}
	replay := func(t *scenario.Trace, target *lock.Target) (*rabbitmq.Replayed, error) {
		return rabbitmq.Replay(c.Context(), broker, target, t, rabbitmq.ReplayOptions{})
	}
	cfg.Real = broker.String()
	cfg.Confirm = func(t *scenario.Trace, target *lock.Target, v scenario.Violation) (string, error) {
		r, err := replay(t, target)
		if err != nil {
			return "", err
		}
		return confirmed("RabbitMQ", r.Skipped, r, v), nil
	}
	cfg.Agree = func(t *scenario.Trace, target *lock.Target) (bool, string, error) {
		r, err := replay(t, target)
		if err != nil {
			return false, "", err
		}
		return r.Agrees(), r.Skipped, nil
	}
	return nil
}

// measures is a server on which figures of the atlas can be measured.
type measures interface {
	Figure(ctx context.Context, name string) (string, error)
}

// onServer configures the atlas to confirm counterexamples, and to measure figures, on a real server of another kind.
func (f *atlasFlags) onServer(c *cobra.Command, kind *kindOfServer, cfg *atlas.Config) error {
	url, err := kind.address(f.locks(), f.on)
	if err != nil {
		return err
	}
	server, err := kind.find(c, url)
	if err != nil {
		return err
	}
	cfg.Real = "a real " + kind.title
	cfg.Confirm = func(t *scenario.Trace, _ *lock.Target, v scenario.Violation) (string, error) {
		r, err := server.Replay(c.Context(), t)
		if err != nil {
			return "", err
		}
		return confirmed(kind.title, r.Skipped, r, v), nil
	}
	if m, ok := server.(measures); ok {
		cfg.Measure = func(figure string) (string, error) { return m.Figure(c.Context(), figure) }
	}
	return nil
}

// replayed is what a trace's replay on a real server has shown.
type replayed interface {
	Reproduces(scenario.Violation) bool
	String() string
}

// confirmed says whether a counterexample violates its property on a real server too: "RabbitMQ agrees", "RabbitMQ
// differs: ..." or "skipped: ...".
func confirmed(title, skipped string, r replayed, v scenario.Violation) string {
	switch {
	case skipped != "":
		return "skipped: " + skipped
	case r.Reproduces(v):
		return title + " agrees"
	}
	return title + " differs: " + r.String()
}

// write prints an atlas and writes its files. An interrupted atlas is written as far as it goes. The error says what
// could not be written.
func (f *atlasFlags) write(c *cobra.Command, a *report.Atlas) error {
	a.Command, a.At = commandLine(), time.Now()
	unsaved := f.save(c, a)
	return all(f.print(c.OutOrStdout(), a), unsaved,
		writeTables(c, func(w io.Writer) error { return report.WriteAtlasMarkdown(w, a) }),
		writeFile(c, "html", func(w io.Writer) error { return report.WriteAtlasPage(w, a) }),
	)
}

func (f *atlasFlags) print(w io.Writer, a *report.Atlas) error {
	if f.json {
		return report.WriteAtlasJSON(w, a)
	}
	return report.WriteAtlas(w, a, outputStyle())
}

func (f *atlasFlags) save(c *cobra.Command, a *report.Atlas) error {
	if f.out == "" {
		return nil
	}
	var errs []error
	for name, ce := range a.Counterexamples() {
		_, err := saveIn(c.Flags().Lookup("out"), name, ce)
		errs = append(errs, err)
	}
	return all(errs...)
}
