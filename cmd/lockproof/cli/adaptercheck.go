package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/subprocess/adaptercheck"
)

// adapterCheckFlags are the flags of `adapter-check`.
type adapterCheckFlags struct {
	exec  string
	lock  string
	limit time.Duration
	serverFlags
}

func adapterCheckCommand() *cobra.Command {
	f := new(adapterCheckFlags)
	cmd := &cobra.Command{
		Use:   "adapter-check --exec 'COMMAND'",
		Short: "walk through the protocol with an adapter, call by call",
		Long: `adapter-check starts two clients from a command and calls each operation of theirs
once or twice, on the simulated broker or on the server that --server names. A call is
green if its answer is as it should be, else red, with what was expected and what to do.
The check shows whether an adapter can be talked to, and nothing about whether its lock is
any good: that is for prove. In the end it watches what the broker has while the lock is
used, and says what to declare as holding, if that can be told.

Exit codes: 0 all green, 1 something is red, 2 the check could not be made.`,
		Example: `  lockproof adapter-check --exec 'python3 my_adapter.py'
  lockproof adapter-check --server redis --exec 'node my_adapter.js'`,
		GroupID: "judge", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	cmd.Flags().StringVar(&f.exec, "exec", "", "the `COMMAND` that starts a client, as a shell takes it")
	cmd.Flags().StringVar(&f.lock, "lock-type", "", "the `TYPE` of lock: semaphore, mutex or persistent-mutex")
	defaults(cmd, usualLockType)
	f.register(cmd, "")
	f.limit = adaptercheck.DefaultLimit
	cmd.Flags().Var(span{&f.limit}, "limit", "how long a call may take")
	completeNames(cmd)
	return cmd
}

func (f *adapterCheckFlags) run(c *cobra.Command) error {
	if strings.TrimSpace(f.exec) == "" {
		return errors.New("--exec is missing: expected the command that starts a client, such as --exec 'python3 my_adapter.py'")
	}
	kind, err := f.kindOf(f.lock)
	if err != nil {
		return err
	}
	on, err := f.ours(c)
	if err != nil {
		return err
	}
	out := adaptercheck.Printer{Out: c.OutOrStdout(), Color: outputStyle().Color, Width: outputStyle().Columns()}
	config := adaptercheck.Config{Command: f.exec, Kind: kind, Open: on.Open, Limit: f.limit, Stderr: c.ErrOrStderr()}
	green, err := adaptercheck.Run(c.Context(), config, out.Step)
	if errors.Is(err, adaptercheck.ErrNotStarted) {
		out.Sum()
	}
	if err != nil {
		return err
	}
	out.Sum()
	if !green {
		return errViolated
	}
	return nil
}
