package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/cli/ciguard"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/leftover"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/histories/secret"
)

// Main runs the command line of this process, and exits. runner runs campaigns, found finds real servers besides
// RabbitMQ, and starter starts servers in containers. If one of them is missing, a command that needs it runs another
// program of lockproof.
func Main(runner campaign.Runner, found servers.Finders, starter container.Starter) {
	campaigns, finders, containers = runner, found, starter
	boundWorkers(runtime.NumCPU())
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// perProcessor is the maximum number of workers per processor that GOMAXPROCS may set. More workers would only cost
// memory.
const perProcessor = 16

// boundWorkers lowers a GOMAXPROCS that is too large, because it is the default number of workers.
func boundWorkers(processors int) {
	if asked, most := runtime.GOMAXPROCS(0), perProcessor*processors; asked > most {
		runtime.GOMAXPROCS(most)
		tell(fmt.Sprintf("GOMAXPROCS is %d: %d are used, %d for each processor of this machine", asked, most, perProcessor))
	}
}

// campaigns runs campaigns; nil if this program cannot. finders find real servers; some may be missing in this program.
var (
	campaigns campaign.Runner
	finders   servers.Finders
)

// run runs a command line and returns the exit code.
func run(args []string, out, errs io.Writer) int {
	leftover.Sweep()
	ctx, stop := interruptible(together)
	defer stop()
	out, errs = guarded(out), guarded(errs)
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	var end ending
	err := root.ExecuteContext(context.WithValue(ctx, endingKey{}, &end))
	err = all(err, end.close())
	for _, trouble := range troubles(err) {
		fmt.Fprintln(errs, "lockproof:", safetext.Cut(safetext.OneLine(secret.Hide(trouble.Error()+hint(trouble)))))
	}
	return exitCode(err, ctx.Err() != nil)
}

// guarded returns a writer that prevents a CI service from taking printed lines for commands.
func guarded(w io.Writer) io.Writer {
	if ciguard.Needed() {
		return ciguard.NewWriter(w)
	}
	return w
}

// ending contains functions to call when a command has ended.
type ending []func() error

type endingKey struct{}

// atEnd registers a function to be called when the command has ended. Its error is reported together with the
// command's.
func atEnd(c *cobra.Command, do func() error) {
	end := c.Context().Value(endingKey{}).(*ending)
	*end = append(*end, do)
}

func (e ending) close() error {
	var errs []error
	for _, do := range slices.Backward(e) {
		errs = append(errs, do())
	}
	return all(errs...)
}

// interruptible returns a context that the first interrupt ends, so that the run can write its results. A second
// interrupt ends the program at once. An interrupt within the time together counts as the first one, because timeout(1)
// signals its child and then the child's group. The end of the terminal is an interrupt as well, unless nohup is used.
// If a reader such as head has gone, writing fails, but the program continues, because it may have files to write.
func interruptible(together time.Duration) (context.Context, func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	asked, stop := signal.NotifyContext(context.Background(), signals...)
	ctx, cancel := context.WithCancel(context.Background()) // its error is context.Canceled for every signal
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	said := make(chan struct{})
	context.AfterFunc(asked, func() {
		cancel()
		select {
		case <-said:
			return
		case <-time.After(together):
		}
		stop()
		select {
		case <-said:
		case <-time.After(patience):
			tell("interrupted: the run is being ended in good order; once more ends it at once")
		}
	})
	return ctx, func() {
		close(said)
		stop()
		signal.Stop(gone)
	}
}

// together is the time within which a second interrupt counts as the first one.
const together = 500 * time.Millisecond

// patience is the time after which an interrupted run explains why it has not ended yet.
const patience = time.Second

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockproof",
		Short: "decides whether a distributed lock is correct and cheap, and shows the shortest execution found in which it is not",
		Long: `lockproof decides whether a distributed lock or semaphore is correct and cheap, and
shows the shortest execution found in which it is not.

Exit codes: 0 everything judged holds but for known findings (lockproof accept), and
everything that --require names was judged; 1 a property is violated or suspected; 2 the run
could not be made; 3 interrupted; 4 inconclusive: nothing was judged, a property that
--require names was skipped, or one is undecided. If several are true, the first of 1, 3, 2,
4 is told: a file that could not be written is an error of its own, and hides no violation.
Files are tried before the run.

Output is as wide as the terminal; elsewhere as COLUMNS says, or 100 columns. How far a run
is goes to standard error: on a terminal in a line that changes, elsewhere in a line every
ten seconds. NO_COLOR leaves colours out.

The flags that a project always gives stand in its .lockproof.yaml: for each command, flags
by their names, and for prove and explore the target. The command line wins.

Names of commands, flags and targets are completed in the shell: lockproof completion --help
says how.`,
		Example: `  lockproof prove                                  the reference semaphore
  lockproof prove locked-is-success                a lock with a bug
  lockproof prove --exec 'python3 my_adapter.py'   your own, in any language
  lockproof replay counterexamples/FILE            look at what was found`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		Args:          unknownCommand,

		PersistentPreRunE: prepare,

		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().String("config", configFile, "a `FILE` with flags for each command; what is typed wins; none is no file")
	root.PersistentFlags().StringSlice(unset, nil, "flags that the file of --config gives, as a `LIST`, and that are as if it did not")
	root.SetFlagErrorFunc(unknownFlag)
	root.SetVersionTemplate("lockproof {{.Version}}\n")
	arrange(root)
	root.AddCommand(proveCommand(), exploreCommand(), acceptCommand(), atlasCommand(), replayCommand(), serveCommand(), checkCommand(), mutantsCommand(), compareCommand(), librariesCommand(), campaignCommand(), listCommand(), brokerCommand(), clusterCommand(), doctorCommand(), consulCommand(), adapterCheckCommand(), initCommand(), versionCommand())
	addCompletion(root)
	root.InitDefaultHelpCmd()
	addHelpAll(root)
	nameArguments(root)
	return root
}

// prepare runs before every command. It applies the file of flags, refuses invalid flags, and checks that output files
// can be written.
func prepare(c *cobra.Command, args []string) error {
	if err := configure(c, args); err != nil {
		return err
	}
	if err := notEmpty(c); err != nil {
		return err
	}
	if slices.Contains(judging, c.Name()) {
		if _, err := known.Load(known.FileName); err != nil {
			return err
		}
	}
	if err := oncePerFile(c, args); err != nil {
		return err
	}
	if err := withPage(c); err != nil {
		return err
	}
	return tryOutputs(c)
}

// addCompletion adds cobra's command `completion`, with texts in lockproof's style.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Short, c.Example = "have the shell complete names of commands, flags and targets", "  lockproof completion bash"
		for _, shell := range c.Commands() {
			shell.Short, shell.Example = "print the script that has "+shell.Name()+" complete them", "  lockproof completion "+shell.Name()
		}
	}
}
