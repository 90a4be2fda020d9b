package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
)

// checkFlags are what `check` is told.
type checkFlags struct {
	kind    string
	slots   int
	permits int
	strict  bool
	outputFlags
}

func checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "judge a recorded history: JSON Lines, or Jepsen's EDN",
		Long: `Judges a recorded history: lockproof's own JSON Lines, or the EDN that Jepsen writes of
a mutex or semaphore. Linearizability is decided, and the other properties as far as a
history alone can show them broken.

A history that does not say what it is of is taken for that of a mutex; --lock,
--slots and --permits say otherwise.`,
		Args: cobra.ExactArgs(1),
		RunE: f.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "lock", "mutex", "what a history without a header is of: mutex, semaphore or persistent-mutex")
	flags.IntVar(&f.slots, "slots", 1, "how many slots it begins with")
	flags.IntVar(&f.permits, "permits", 0, "how many permits a lock has whose history names no slots (default the slots)")
	flags.BoolVar(&f.strict, "strict", false, "a failed acquire promises that at one moment every slot was taken")
	f.registerReport(cmd)
	return cmd
}

func (f *checkFlags) run(c *cobra.Command, args []string) error {
	kind, err := lock.KindNamed(f.kind)
	if err != nil {
		return fmt.Errorf("--lock: %w", err)
	}
	if f.slots < 0 || f.permits < 0 {
		return fmt.Errorf("--slots %d --permits %d: expected at least 0", f.slots, f.permits)
	}
	assumed := histories.Header{Kind: kind, Locks: []histories.Named{{Name: "lock", Slots: f.slots}}}
	h, notes, err := histories.LoadHistory(args[0], assumed)
	if err != nil {
		return err
	}
	o := lockproof.CheckOptions{Source: args[0], Permits: f.permits}
	if f.strict {
		o.Strength = spec.Strict
	}
	report, err := lockproof.Check(h, o)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if notes != (histories.Notes{}) {
		tell(fmt.Sprintf("%s: passed over %d occurrences; %d errors and %d values in other words than ours claim nothing",
			args[0], notes.Ignored, notes.Unexplained, notes.Values))
	}
	return f.write(c, &lockproof.Result{Report: report})
}
