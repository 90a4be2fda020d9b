package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim/search"
)

// exploreFlags are what `explore` is told.
type exploreFlags struct {
	lockproof.Exploration
	calls, adminCalls string
	options           []string
	properties        []string
	reduce            string
	storage           string
	memory            int
	array             int64
	strict            bool
	runs              int
	execFlags
	outputFlags
}

func exploreCommand() *cobra.Command {
	f := exploreFlags{Exploration: lockproof.Exploration{Clients: 2, Rounds: 1, Admins: 1, Slots: 2}}
	f.Faults.Crashes, f.Faults.Late = 1, true
	cmd := &cobra.Command{
		Use:   "explore [TARGET]",
		Short: "visit every execution of a bounded configuration",
		Long: `Visits every reachable state of a configuration: every order of the clients' commands,
every placement of the faults, every choice of a random option. A property that holds
in all of them is proved within these bounds; one that does not is shown with a shortest
execution that violates it, which replays.

A client calls acquire, verify and release, so many rounds of them; an administrator
removes a slot and adds one. --calls and --admin-calls say otherwise, such as
"acquire,release" or "add:2,count". A pause is not a fault here: every order of commands
includes every pause.

With --exec anybody's lock is visited, in any language: the command is run for each
client, and every order in which the clients' commands can reach the broker is run from
its beginning, one of each that differ only in what makes no difference. There are no
faults then, and, unless said otherwise, 2 clients, 1 slot and no administrator.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.workload(cmd)
	f.faults(cmd)
	f.searching(cmd)
	f.execFlags.register(cmd)
	cmd.Flags().IntVar(&f.runs, "runs", lockproof.DefaultForeignRuns, "with --exec, how many executions are run at most")
	f.outputFlags.register(cmd)
	return cmd
}

func (f *exploreFlags) workload(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.Clients, "clients", f.Clients, "how many clients")
	flags.IntVar(&f.Rounds, "rounds", f.Rounds, "how often each goes through its calls")
	flags.IntVar(&f.Admins, "admins", f.Admins, "how many administrators")
	flags.IntVar(&f.Slots, "slots", f.Slots, "how many slots there are at first")
	flags.StringArrayVar(&f.Names, "lock", nil, "the `NAME` of a lock (default jobs); given twice, clients use the two in turn")
	flags.StringVar(&f.calls, "calls", "", "what a client calls, such as `acquire,release`")
	flags.StringVar(&f.adminCalls, "admin-calls", "", "what an administrator calls, such as `remove:1,wait:1`")
	flags.StringArrayVarP(&f.options, "option", "o", nil, "set an option, as `NAME=VALUE`; the command list shows them")
}

func (f *exploreFlags) faults(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.Faults.Crashes, "crashes", f.Faults.Crashes, "how many clients may die, before a command or after its effect")
	flags.IntVar(&f.Faults.Drops, "drops", 0, "how many connections the broker may drop")
	flags.IntVar(&f.Faults.ChannelErrors, "channel-errors", 0, "how many channels the broker may close")
	flags.IntVar(&f.Faults.Lost, "lost", 0, "how many replies may be lost")
	flags.IntVar(&f.Faults.Restarts, "restarts", 0, "how often the broker may restart")
	flags.BoolVar(&f.Faults.Late, "late", f.Faults.Late, "the broker may notice a dead connection at any later moment")
}

func (f *exploreFlags) searching(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.properties, "property", nil, "judge only this property; may be given several times")
	flags.BoolVar(&f.strict, "strict", false, "a failed acquire promises that at one moment every slot was taken")
	flags.StringVar(&f.reduce, "reduce", "symmetry,order,local", "which reductions to use, or none")
	flags.IntVar(&f.Search.Workers, "workers", 0, "how many search at once (default one a processor); the result is the same")
	flags.IntVar(&f.Search.Depth, "depth", 0, "end the search after so many levels")
	flags.IntVar(&f.memory, "memory", 8192, "end the search at about so many `MiB`")
	flags.StringVar(&f.storage, "storage", "fingerprints", "how states are kept: fingerprints, exact or bits")
	flags.Int64Var(&f.array, "array", 64, "the size of the array of --storage bits, in `MiB`")
	flags.BoolVar(&f.Search.First, "first", false, "end the search at the first violation")
	flags.StringVar(&f.Search.Checkpoint, "checkpoint", "", "leave the search in a `FILE` when it ends early")
	flags.DurationVar(&f.Search.Every, "every", 0, "write the checkpoint also after every so much time, such as 10m")
	flags.StringVar(&f.Search.Resume, "resume", "", "go on from a checkpoint `FILE`")
	flags.IntVar(&f.Walks, "simulate", 0, "take so many random executions instead of visiting all")
	flags.Uint64Var(&f.Seed, "seed", 1, "what decides the random executions")
}

func (f *exploreFlags) run(c *cobra.Command, args []string) error {
	if f.exec != "" {
		return f.foreign(c, args)
	}
	if err := given(c, "without --exec: it is for a command's clients; leave it out, or name a command", "runs", "lock-type", "patience"); err != nil {
		return err
	}
	if err := f.settle(args); err != nil {
		return err
	}
	line, began := newProgress(), time.Now()
	f.Search.Progress = func(s *search.Stats) {
		line.say("%s states, %s a second, %s in the queue, depth %d, %d MiB", short(s.States),
			short(int64(float64(s.States)/max(time.Since(began).Seconds(), 0.001))), short(s.Queue), s.Depth,
			(s.TableBytes+s.QueueBytes+s.PartBytes+s.MoveBytes)>>20)
	}
	res, err := lockproof.Explore(c.Context(), f.Exploration)
	line.done()
	if err != nil {
		return err
	}
	if res.Report.Interrupted && f.Search.Checkpoint != "" {
		tell("the search can go on with --resume " + f.Search.Checkpoint)
	}
	return f.write(c, &res.Result)
}

// settle reads what is given in words.
func (f *exploreFlags) settle(args []string) (err error) {
	name := "semaphore"
	if len(args) == 1 {
		name = args[0]
	}
	if f.Target, err = lockproof.TargetNamed(name); err != nil {
		return err
	}
	if err := f.called(); err != nil {
		return err
	}
	for _, name := range f.properties {
		p, err := spec.PropertyNamed(name)
		if err != nil {
			return err
		}
		f.Properties = f.Properties.With(p)
	}
	if err := f.Search.Storage.UnmarshalText([]byte(f.storage)); err != nil {
		return fmt.Errorf("--storage: %w", err)
	}
	if f.Search.Reductions, err = reductions(f.reduce); err != nil {
		return err
	}
	f.Search.Memory, f.Search.Array = int64(f.memory)<<20, f.array<<20
	if f.Search.Every > 0 && f.Search.Checkpoint == "" {
		return fmt.Errorf("--every %s: there is no checkpoint to write; --checkpoint names one", f.Search.Every)
	}
	return nil
}

// called reads who calls what, with which options, and what is expected of it.
func (f *exploreFlags) called() (err error) {
	if f.strict {
		f.Strength = spec.Strict
	}
	if f.Exploration.Options, err = pairs(f.options); err != nil {
		return err
	}
	if f.Calls, err = operations("--calls", f.calls); err != nil {
		return err
	}
	f.AdminCalls, err = operations("--admin-calls", f.adminCalls)
	return err
}

// given refuses flags that make no sense, and says why.
func given(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s %s", name, why)
		}
	}
	return nil
}

// reductions are the reductions by name.
func reductions(names string) (r search.Reductions, err error) {
	for _, name := range strings.Split(names, ",") {
		switch name {
		case "symmetry":
			r.Symmetry = true
		case "order":
			r.Order = true
		case "local":
			r.Local = true
		case "none", "":
		default:
			return r, fmt.Errorf("--reduce %q: expected symmetry, order and local, with commas, or none", name)
		}
	}
	return r, nil
}

// operations are calls such as "acquire,remove:1".
func operations(flag, list string) ([]scenario.Operation, error) {
	if list == "" {
		return nil, nil
	}
	var out []scenario.Operation
	for _, item := range strings.Split(list, ",") {
		name, arg, has := strings.Cut(item, ":")
		var op scenario.Operation
		if err := op.Op.UnmarshalText([]byte(name)); err != nil || op.Op == lock.Connect {
			return nil, fmt.Errorf("%s %q: expected operations such as acquire or remove:1", flag, item)
		}
		takes := op.Op == lock.Create || op.Op == lock.Add || op.Op == lock.Remove || op.Op == lock.Wait
		n, err := strconv.ParseUint(arg, 10, 8)
		if takes != has || has && (err != nil || n < 1 || n > spec.Slots-1) {
			return nil, fmt.Errorf("%s %q: create, add, remove and wait take a number from 1 to %d after a colon, others none", flag, item, spec.Slots-1)
		}
		op.Arg = uint8(n)
		out = append(out, op)
	}
	return out, nil
}

// short is a number as it fits into a line.
func short(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0f M", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return strconv.FormatInt(n, 10)
}
