package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/anynumber"
)

// exploreFlags are the flags of `explore`.
type exploreFlags struct {
	explore.Exploration
	calls, adminCalls string
	startFile         string // file of the counterexample in which the exploration begins; "" if it begins normally
	options           []string
	property          properties
	reduce            string
	storage           string
	memory            int
	array             int64
	executions        int
	preemptions       int
	execFlags
	outputFlags
}

func exploreCommand() *cobra.Command {
	f := exploreFlags{Exploration: explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Admins: 1, Slots: 2}}}
	f.Faults.Crashes, f.Faults.Late = 1, true
	cmd := &cobra.Command{
		Use:   "explore [TARGET]",
		Short: "visit every execution of a bounded configuration",
		Long: `Visits every reachable state of a configuration: every order of the clients'
commands, every placement of the faults, every choice of a random option. A property that
holds in all of them is proved within these bounds; one that does not is shown with a short
execution that violates it, which replays. The card says so if no execution with as many
slots and calls, or fewer, violates it in fewer steps.

A client calls acquire, verify and release, so many rounds of them; an administrator
removes a slot and adds one. --calls and --admin-calls say otherwise, such as
"acquire,release" or "add:2,count". A pause is not a fault here: every order of commands
includes every pause.

With --clients any there is any number of clients, each going through its calls again and
again. A proof then holds for every number of clients and rounds. It also holds for every
number of a fault if that number is any (any number of crashes, unless --crashes says
otherwise). With --admins any there is any number of administrators. Steps that make more
slots at once than --most-slots are not followed: properties are undecided then, unless they
are violated. The card tells how many real clients already reach all that was visited.

With --exec the clients are programs, in any language: the command is run for each. Every
order in which their commands can reach the broker is run from its beginning, with the
faults at every place; of orders that are equivalent, one is run. Acquires that wait with
a deadline are not explored. The defaults are then 2 clients, 1 slot, no administrator and
no faults.`,
		Example: `  lockproof explore --clients 3 --rounds 2 --crashes 1
  lockproof explore --clients any --slots 1
  lockproof explore --start slots=1,3 --admin-calls add:1
  lockproof explore --exec 'python3 my_adapter.py' --crashes 1`,
		GroupID: "judge", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeTargets,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	f.workload(cmd)
	f.faults(cmd)
	f.searching(cmd)
	f.execFlags.register(cmd)
	f.executions = gated.DefaultExecutions
	cmd.Flags().Var(number[int]{&f.executions, 1, manyScenarios}, "executions", "with --exec, how many executions there are at most")
	cmd.Flags().Var(number[int]{&f.preemptions, 0, scenario.MaxSteps}, "preemptions",
		"with --exec, visit the orders that turn so often at most from a client that could go on (default all orders)")
	f.outputFlags.register(cmd)
	cmd.Flags().Var(&formFile{endings: []string{".dot", ".svg"}}, "graph", "write the first 1,500 states, without reductions, to a `FILE`: Graphviz' if its name ends with .dot, a picture with .svg")
	registerExplorer(cmd)
	section(cmd, "What is judged", "exec server lock-type contract property require", "servers holding option strict")
	section(cmd, "Who does what", "clients rounds admins slots", "start most-slots lock calls admin-calls")
	section(cmd, "Faults", "crashes", "drops channel-errors lost lapses restarts clocks late")
	section(cmd, "How it is searched, and how far", "first", "reduce workers depth memory storage array simulate seed executions preemptions patience")
	section(cmd, "Going on later", "", "checkpoint every resume")
	section(cmd, "What is written", "out html json", "junit explorer graph summary sarif annotate")
	defaults(cmd, map[string]string{
		"admins": "1; none with --exec", "slots": "2; 1 with --exec", "crashes": "1; any with --clients any, none with --exec",
	})
	completeNames(cmd)
	return cmd
}

func (f *exploreFlags) workload(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(orAny{number[int]{&f.Clients, 0, lock.MaxClients}}, "clients", "how many clients, or any number of them")
	flags.Var(number[int]{&f.Rounds, 1, 100}, "rounds", "how often each goes through its calls")
	flags.Var(orAny{number[int]{&f.Admins, 0, lock.MaxClients}}, "admins", "how many administrators, or any number of them")
	flags.Var(number[int]{&f.Slots, 0, monitor.Slots - 1}, "slots", "how many slots there are at first")
	flags.Var(beginning{startFlag{&f.Start}, &f.startFile, &f.After}, "start", "begin with these slots, such as slots=1,3, or in a counterexample's state after a step, such as ce.json@12")
	flags.Var(number[int]{&f.MostSlots, 1, monitor.Slots - 1}, "most-slots", "with any number of clients, how many slots there may be at once (default those at first and what each administrator adds)")
	flags.StringArrayVar(&f.Names, "lock", nil, "the `NAME` of a lock (default jobs); given twice, clients use the two in turn")
	flags.StringVar(&f.calls, "calls", "", "the `CALLS` of a client, such as acquire,release")
	flags.StringVar(&f.adminCalls, "admin-calls", "", "the `CALLS` of an administrator, such as remove:1,wait:1")
	flags.StringArrayVarP(&f.options, "option", "o", nil, "fix an option, as `NAME=VALUE`; the command list shows them")
}

func (f *exploreFlags) faults(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(orAny{number[int]{&f.Faults.Crashes, 0, 100}}, "crashes", "how many clients may die, before a command or after its effect")
	flags.Var(orAny{number[int]{&f.Faults.Drops, 0, 100}}, "drops", "how many connections the broker may drop")
	flags.Var(orAny{number[int]{&f.Faults.ChannelErrors, 0, 100}}, "channel-errors", "how many channels the broker may close")
	flags.Var(orAny{number[int]{&f.Faults.Lost, 0, 100}}, "lost", "how many replies may be lost")
	flags.Var(orAny{number[int]{&f.Faults.Restarts, 0, 100}}, "restarts", "how often the broker may restart")
	flags.Var(number[int]{&f.Faults.Clocks, 0, 100}, "clocks", "how often a client's clock may jump, or run fast or slow from then on")
	flags.Var(number[int]{&f.Faults.Lapses, 0, 100}, "lapses", "with --server, how often so much time may pass that all leases end")
	flags.BoolVar(&f.Faults.Late, "late", f.Faults.Late, "the broker may notice a dead connection at any later moment")
}

func (f *exploreFlags) searching(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.property, "property", "judge only these properties, with commas")
	registerStrict(cmd, &f.FailedAcquire)
	flags.StringVar(&f.reduce, "reduce", "symmetry,order,local", "a `LIST` of the reductions to use, or none")
	flags.Var(number[int]{&f.Search.Workers, 1, manyWorkers}, "workers", "how many search at once (default one a processor); the result is the same")
	flags.Var(number[int]{&f.Search.Depth, 1, 1 << 30}, "depth", "end the search after so many levels")
	f.memory, f.array = mostMemory, 64
	flags.Var(number[int]{&f.memory, 1, manyMiB}, "memory", "end the search at about so many `MiB`, or fewer where this process may not have twice as many")
	flags.StringVar(&f.storage, "storage", "fingerprints", "the `WAY` states are kept: fingerprints, exact or bits")
	flags.Var(number[int64]{&f.array, 1, manyMiB}, "array", "the size of the array of --storage bits, in `MiB`")
	flags.BoolVar(&f.Search.First, "first", false, "end the search at the first violation")
	flags.StringVar(&f.Search.Checkpoint, "checkpoint", "", "leave the search in a `FILE` when it ends early")
	flags.Var(span{&f.Search.Every}, "every", "write the checkpoint also after every so much time, such as 10m")
	flags.StringVar(&f.Search.Resume, "resume", "", "go on from a checkpoint `FILE`")
	flags.Var(number[int]{&f.Walks, 1, manyScenarios}, "simulate", "take so many random executions instead of visiting all")
	flags.Uint64Var(&f.Seed, "seed", 1, "what decides the random executions")
}

func (f *exploreFlags) run(c *cobra.Command, args []string) error {
	args = targets(c, args)
	if f.program.Exec != "" {
		return f.external(c, args)
	}
	if err := f.unused(c); err != nil {
		return err
	}
	if err := f.configure(c, args); err != nil {
		return err
	}
	line, began := newProgress(), time.Now()
	f.Search.Progress = func(s *search.Stats) {
		line.say("%s states, %s a second, %s in the queue, depth %d, %d MiB", short(s.States),
			short(int64(float64(s.States)/max(time.Since(began).Seconds(), 0.001))), short(s.Queue), s.Depth,
			(s.TableBytes+s.QueueBytes+s.PartBytes+s.MoveBytes)>>20)
	}
	f.ViewsProgress = func(s *anynumber.Stats) {
		line.say("%s views, %s contexts, %d client parts, %d to look at, %d MiB", short(s.Views), short(s.Contexts), s.Parts[1], s.Pending, s.Bytes>>20)
	}
	res, err := explore.Run(c.Context(), f.Exploration)
	line.done()
	if err != nil {
		return err
	}
	if res.Report.Interrupted && f.Search.Checkpoint != "" && res.Unsaved == nil {
		tell("the search can go on with --resume " + f.Search.Checkpoint)
	}
	if explores(c) {
		if err := res.AddGraph(&f.Exploration); err != nil {
			return err
		}
	}
	return f.write(c, &res.Result, res.Unsaved, f.writeGraph(c))
}

// writeGraph writes the graph of the visited states to the file of --graph.
func (f *exploreFlags) writeGraph(c *cobra.Command) error {
	return writeFile(c, "graph", func(w io.Writer) error {
		graph, _, err := f.Graph()
		if err != nil {
			return err
		}
		if filepath.Ext(c.Flags().Lookup("graph").Value.String()) == ".svg" {
			return report.WriteGraphSVG(w, graph)
		}
		return report.WriteDOT(w, graph)
	})
}

// ofAny reports whether the flags ask for any number of clients or administrators.
func (f *exploreFlags) ofAny() bool {
	return f.Clients == explore.AnyNumber || f.Admins == explore.AnyNumber
}

// unused returns an error for flags that have no effect together with the others.
func (f *exploreFlags) unused(c *cobra.Command) error {
	err := cmp.Or(besideStart(c), given(c, "without --exec: it is for a command's clients; leave it out, or name a command", "executions", "preemptions", "lock-type", "patience", "contract", "holding", "server", "servers", "lapses"))
	if f.ofAny() {
		return cmp.Or(err, given(c, "with --clients any: clients go on for ever and views are kept, not states; leave it out",
			"rounds", "reduce", "depth", "storage", "array", "simulate", "seed"), f.aimless(c),
			given(c, "with --clients any: no lock is explored for any number of clients whose clients look at a clock; leave it out", "clocks"),
			given(c, "with --clients any: there are more states than can be drawn; leave it out, or give a number", "graph"))
	}
	err = cmp.Or(err, given(c, "without --clients any: there are as many slots as administrators make; leave it out", "most-slots"))
	if faults := f.Faults; slices.Contains([]int{faults.Crashes, faults.Drops, faults.ChannelErrors, faults.Lost, faults.Restarts}, explore.AnyNumber) {
		return errors.New("any number of faults: only any number of clients has them; give a number, or --clients any")
	}
	if f.Walks > 0 {
		return cmp.Or(err, given(c, "with --simulate: random executions are taken and no states are kept; leave it out",
			"reduce", "depth", "memory", "storage", "array", "first", "checkpoint", "every", "resume"))
	}
	err = cmp.Or(err, given(c, "without --simulate: nothing is drawn where all is visited; leave it out, or have --simulate", "seed"))
	if f.storage != "bits" {
		err = cmp.Or(err, given(c, "without --storage bits: there is no array; leave it out, or have --storage bits", "array"))
	}
	return cmp.Or(err, f.aimless(c))
}

// aimless returns an error for --every if no checkpoint file is named.
func (f *exploreFlags) aimless(c *cobra.Command) error {
	if f.Search.Checkpoint != "" {
		return nil
	}
	return given(c, "without --checkpoint: there is none to write; leave it out, or name a file", "every")
}

// callers returns an error for flags about clients or administrators if there are none. It also checks slots and lock
// names.
func (f *exploreFlags) callers(c *cobra.Command, kind lock.Kind) error {
	var err error
	if f.Clients == 0 {
		err = given(c, "without clients: nobody calls it; leave it out, or have --clients", "calls", "rounds")
	}
	if f.Admins == 0 {
		err = cmp.Or(err, given(c, "without administrators: nobody calls it; leave it out, or have --admins", "admin-calls"))
	}
	if kind != lock.Semaphore && f.Slots > 1 {
		err = cmp.Or(err, given(c, fmt.Sprintf("%d: a %s has one; leave it out", f.Slots, kind), "slots"))
	}
	if len(f.Names) > lock.MaxLocks {
		err = cmp.Or(err, given(c, fmt.Sprintf("given %d times: expected at most %d", len(f.Names), lock.MaxLocks), "lock"))
	}
	if len(f.Names) == 2 && f.Names[0] == f.Names[1] {
		err = cmp.Or(err, given(c, fmt.Sprintf("%s given twice: expected two names that differ", f.Names[0]), "lock"))
	}
	return err
}

// configure parses the flags whose values are text, for example --calls.
func (f *exploreFlags) configure(c *cobra.Command, args []string) (err error) {
	name := "semaphore"
	if len(args) == 1 {
		name = args[0]
	}
	if f.startFile != "" {
		ce, err := histories.LoadCounterexample(f.startFile)
		if err != nil {
			return err
		}
		if ce.Exec != "" {
			return fmt.Errorf("--start %s: it is a counterexample of %s; expected one of a lock that is simulated", f.startFile, ce.Exec)
		}
		f.From = &ce.Scenario
		if len(args) == 0 {
			name = ce.Scenario.Target
		}
	}
	if f.Target, err = engine.TargetNamed(name); err != nil {
		return err
	}
	if f.ofAny() && !c.Flags().Changed("crashes") {
		f.Faults.Crashes = explore.AnyNumber
	}
	if err := f.called(); err != nil {
		return err
	}
	kind := f.Target.Kind
	if !explore.Administered(f.Target) && !c.Flags().Changed("admins") {
		f.Admins = 0
	}
	if err := f.callers(c, kind); err != nil {
		return err
	}
	if f.Properties, err = f.property.judged(property.Of(f.Target), kind); err != nil {
		return err
	}
	if err := f.demand(f.Properties, kind); err != nil {
		return err
	}
	if err := f.Search.Storage.UnmarshalText([]byte(f.storage)); err != nil {
		return fmt.Errorf("--storage: %w", err)
	}
	if f.Search.Reductions, err = reductions(f.reduce); err != nil {
		return err
	}
	if err := f.fitMemory(c, systemMemory()); err != nil {
		return err
	}
	if f.storage == "bits" && f.array > int64(f.memory) {
		return fmt.Errorf("--array %d: expected at most as many MiB as --memory allows, %d", f.array, f.memory)
	}
	f.Search.Memory, f.Search.Array = int64(f.memory)<<20, f.array<<20
	return nil
}

// called parses the flags --option, --calls and --admin-calls.
func (f *exploreFlags) called() (err error) {
	if f.Exploration.Options, err = pairs(f.options); err != nil {
		return err
	}
	if f.Calls, err = operations("--calls", f.calls); err != nil {
		return err
	}
	f.AdminCalls, err = operations("--admin-calls", f.adminCalls)
	return err
}

// reductions returns the reductions with the given names.
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

// operations parses the operations that a flag lists.
func operations(flag, list string) ([]scenario.Operation, error) {
	out, err := explore.ParseCalls(list)
	if err != nil {
		return nil, fmt.Errorf("%s %w", flag, err)
	}
	return out, nil
}

// short formats a number in a short form.
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
