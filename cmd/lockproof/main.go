// Command lockproof decides whether a distributed lock is correct and cheap, and shows the shortest
// execution found in which it is not.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitHolds       = 0
	exitViolated    = 1
	exitCannot      = 2 // the run could not be made
	exitInterrupted = 3
)

// How a run that was made can end otherwise than well.
var (
	errViolated    = errors.New("violated")
	errInterrupted = errors.New("interrupted")
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run carries out a command line and returns the exit code.
func run(args []string, out, errs io.Writer) int {
	// The first interrupt ends the run in good order, the second at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitHolds
	case errors.Is(err, errViolated):
		return exitViolated
	case errors.Is(err, errInterrupted) || ctx.Err() != nil:
		return exitInterrupted
	}
	fmt.Fprintln(errs, "lockproof:", oneLine(err))
	return exitCannot
}

// oneLine is an error as people get it: one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockproof",
		Short: "decides whether a distributed lock is correct and cheap, and shows the shortest execution in which it is not",
		Long: `lockproof decides whether a distributed lock or semaphore is correct and cheap, and
shows the shortest execution found in which it is not.

Exit codes: 0 all properties hold, 1 a property is violated, 2 the run could not be
made, 3 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(proveCommand(), exploreCommand(), atlasCommand(), replayCommand(), checkCommand(), mutantsCommand(), listCommand(), brokerCommand(), adapterCheckCommand(), versionCommand())
	return root
}
