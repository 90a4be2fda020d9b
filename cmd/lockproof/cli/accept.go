package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/safetext"
)

func acceptCommand() *cobra.Command {
	var f known.Finding
	cmd := &cobra.Command{
		Use:   "accept FILE --reason TEXT",
		Short: "accept a counterexample as known, so that it is no failure for a while",
		Long: `Adds a counterexample's violation to ` + known.FileName + ` in the current folder, where prove,
explore and go test look for it. They go on showing it, with the reason. A run in which nothing
else is violated has the exit code 0, until the day given by --expires is over. Accepting it
again changes the reason, the owner and the day.

It is told by its property and its fingerprint, which other seeds, other numbers of clients'
and other names of queues do not change: see the comment of Fingerprint in package histories.
A property has one counterexample a run, so that another violation of the property may hide
behind a known one.`,
		Example: `  lockproof accept counterexamples/mine.no-leak.json --reason 'mended in 2.1'
  lockproof accept ce.json --reason 'ticket 17' --owner ops --expires 2027-01-31`,
		GroupID: "judge", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return accept(c, args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Reason, "reason", "", "why it is accepted, in one line")
	flags.StringVar(&f.Owner, "owner", "", "`WHO` sees to it")
	flags.StringVar(&f.Expires, "expires", "", "the last `DAY` on which it is no failure, by UTC, such as 2027-01-31 (default none)")
	return cmd
}

// accept adds a counterexample's violation to the project's known findings. f has the reason, the owner, and the day on
// which it expires.
func accept(c *cobra.Command, file string, f known.Finding) error {
	if f.Reason == "" {
		return fmt.Errorf("--reason is missing: expected why %s is accepted", file)
	}
	ce, err := histories.LoadCounterexample(file)
	if err != nil {
		return err
	}
	f.Property, f.Fingerprint = ce.Violation.Name(), ce.Fingerprint()
	if err := known.Accept(outfile.Place{Path: known.FileName, Folder: "."}, f); err != nil {
		return err
	}
	until := "without an end"
	if f.Expires != "" {
		until = "until " + f.Expires + " is over"
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s of %s, fingerprint %s, is accepted %s\n", known.FileName, f.Property, safetext.Escape(ce.Scenario.Target), f.Fingerprint, until)
	return err
}
