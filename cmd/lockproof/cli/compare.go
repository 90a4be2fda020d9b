package cli

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
)

// compareFlags are what `compare` is told.
type compareFlags struct {
	time      time.Duration
	seed      uint64
	scenarios int
	json      bool
	markdown  string
}

func compareCommand() *cobra.Command {
	f := compareFlags{time: 90 * time.Second, seed: 1, scenarios: engine.DefaultCompareScenarios}
	cmd := &cobra.Command{
		Use:   "compare [TARGET…]",
		Short: "put locks side by side: which should I take?",
		Long: `Puts locks side by side, all references of all servers unless some are named: which
properties hold with which faults, and what operations cost, on the simulated servers.
Every execution of 2 clients and 1 slot is visited, without a fault and with one of each
kind, if there is time for it; what is not wholly visited is only passed.

The exit code is 1 if a property of any is lost. That an answer is missing is said in the
table, and changes nothing about it.`,
		Example: `  lockproof compare
  lockproof compare semaphore token-semaphore --time 10s`,
		GroupID: "judge", ValidArgsFunction: completeSeveralTargets,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	flags.Var(span{&f.time}, "time", "about how long it may take")
	flags.Uint64Var(&f.seed, "seed", f.seed, "what decides the executions that are drawn")
	flags.Var(number[int]{&f.scenarios, 1, manyScenarios}, "scenarios", "how many executions are drawn of each lock")
	flags.BoolVar(&f.json, "json", false, "print the comparison as JSON")
	flags.StringVar(&f.markdown, "markdown", "", "write it as Markdown to a `FILE`")
	return cmd
}

func (f *compareFlags) run(c *cobra.Command, names []string) error {
	line := newProgress().within(f.time)
	cfg := engine.CompareConfig{Time: f.time, Scenarios: f.scenarios, Seed: f.seed}
	cfg.Progress = func(done, of int, t *lock.Target) { line.part(done, of, "%d of %d locks, %s", done, of, t.Name) }
	for _, name := range names {
		t, err := engine.TargetNamed(name)
		if err != nil {
			return err
		}
		cfg.Targets = append(cfg.Targets, t)
	}
	table, err := engine.Compare(c.Context(), cfg)
	line.done()
	return all(err, f.write(c, table))
}

// write writes what there is of a comparison. The error says how it ended, and what could not be written.
func (f *compareFlags) write(c *cobra.Command, table *report.Comparison) error {
	table.Command, table.At = commandLine(), time.Now()
	var ended error
	switch {
	case len(table.Losers()) > 0:
		ended = errViolated
	case table.Interrupted:
		ended = errInterrupted
	}
	return all(ended, f.print(c.OutOrStdout(), table),
		writeFile("--markdown", f.markdown, func(w io.Writer) error { return report.WriteComparisonMarkdown(w, table) }),
	)
}

func (f *compareFlags) print(w io.Writer, table *report.Comparison) error {
	if f.json {
		return report.WriteComparisonJSON(w, table)
	}
	return report.WriteComparison(w, table, outputStyle())
}
