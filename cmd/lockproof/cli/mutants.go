package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
)

func mutantsCommand() *cobra.Command {
	var seed uint64
	limit := sample.MutantLimit
	cmd := &cobra.Command{
		Use:   "mutants [NAME…]",
		Short: "prove the prover: every mutant must be found out",
		Long: `Runs every mutant (the reference with one bug each) until the property that it was
made to break is seen broken. The card has how many scenarios that took, and how many steps
the minimised counterexample has. A mutant that survives is a failure of the prover.`,
		Example: `  lockproof mutants
  lockproof mutants locked-is-success reconnects`,
		GroupID: "study", ValidArgsFunction: completeTargets,
		RunE: func(c *cobra.Command, args []string) error { return killAll(c, args, seed, limit) },
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "what decides every scenario")
	cmd.Flags().Var(number[int]{&limit, 1, manyScenarios}, "scenarios", "how many scenarios a mutant may survive")
	return cmd
}

func killAll(c *cobra.Command, names []string, seed uint64, limit int) error {
	mutants, err := chosen(names)
	if err != nil {
		return err
	}
	var all []*sample.Killed
	line := newProgress()
	for i, m := range mutants {
		line.part(i, len(mutants), "%d of %d mutants, %s", i, len(mutants), m.Name)
		k, err := sample.Kill(c.Context(), m, seed, limit)
		if err != nil {
			return err
		}
		if c.Context().Err() != nil {
			break
		}
		all = append(all, k)
	}
	line.done()
	return printKilled(c, all, len(mutants), seed, limit)
}

// printKilled prints the results of the mutants that were run, and returns the error with which the command ends. of is
// the number of mutants that should have run.
func printKilled(c *cobra.Command, all []*sample.Killed, of int, seed uint64, limit int) error {
	killed := tellKilled(c.OutOrStdout(), all, of, seed, limit)
	switch {
	case c.Context().Err() != nil:
		return errInterrupted
	case killed < of:
		return errViolated
	}
	return nil
}

// tellKilled writes the results of the mutants that were run, and returns the number of mutants whose bug was found. of
// is the number of mutants that should have run.
func tellKilled(out io.Writer, all []*sample.Killed, of int, seed uint64, limit int) (killed int) {
	rows := [][]string{{"  mutant", "breaks", "scenarios", "steps", "also seen broken"}}
	for _, k := range all {
		if k.Scenarios > 0 {
			killed++
		}
		rows = append(rows, killedRow(k))
	}
	_ = writeTable(out, rows) // errors of printing are ignored
	text := fmt.Sprintf("%d mutants: %d killed by the property they break, seed %d, at most %d scenarios each", of, killed, seed, limit)
	fmt.Fprintf(out, "\n%s\n", strings.Join(style.Wrap(text, outputStyle().Columns()), "\n"))
	return killed
}

// chosen returns the mutants with the given names, or all mutants if there are no names.
func chosen(names []string) ([]*lock.Target, error) {
	if len(names) == 0 {
		return engine.Mutants(), nil
	}
	var out []*lock.Target
	for _, name := range names {
		t, err := engine.TargetNamed(name)
		if err != nil {
			return nil, err
		}
		if t.Breaks == "" {
			return nil, fmt.Errorf("target %q is no mutant: `lockproof prove %s` judges it", name, name)
		}
		out = append(out, t)
	}
	return out, nil
}

func killedRow(k *sample.Killed) []string {
	var also []string
	for _, p := range k.Also {
		also = append(also, p.String())
	}
	if k.Scenarios == 0 {
		return []string{"✗ " + k.Mutant.Name, k.Property.String(), "survives", "", strings.Join(also, " ")}
	}
	return []string{"✓ " + k.Mutant.Name, k.Property.String(), fmt.Sprint(k.Scenarios), fmt.Sprint(len(k.Trace.Steps)), strings.Join(also, " ")}
}
