package cli

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// proveFlags are the flags of `prove`.
type proveFlags struct {
	draw     engine.Sampling
	judging  engine.Judging
	strategy string
	options  []string
	property properties
	first    bool
	limit    time.Duration // maximum duration of an operation in a stress run
	way      string        // value of --stress: how external clients reach a real broker; "" if the run has a schedule
	execFlags
	shapeFlags
	onFlags
	outputFlags
}

func proveCommand() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove [TARGET]",
		Short: "judge a lock: the reference semaphore unless another target is named",
		Long: `Draws scenarios (clients, operations, options, faults, schedule) from a seed, runs
them on a simulated server, judges every property, and prints the card. An execution that
violates a property is minimised and written as a counterexample that replays. Later runs
of the same lock begin with it, and fail as long as it fails, whatever their seed. Once it
passes, it is moved to the folder passed beside it, and still carried out by every run.

With --on rabbitmq or --on amqp://… the target runs on a real RabbitMQ instead: many
clients at once, as fast as they can, and the recorded history is judged.

With --exec anybody's lock is judged, in any language. The command is run for each client and called
over its standard input and output. Its commands to the broker, or to the server that --server
names, wait until the schedule lets them through. With --stress there is no schedule, and a real
broker is asked for by --on: many clients at once, as fast as they can.

A broker may be shared with other runs and programs. Names carry a mark and the time, and
all that was made is deleted at the end. The next run deletes what a killed run has left.

How many clients, administrators, slots, rounds, crashes and restarts there are is drawn
for each scenario, unless a flag says it.`,
		Example: `  lockproof prove
  lockproof prove locked-is-success --html page.html
  lockproof prove --exec 'python3 my_adapter.py' --require all
  lockproof prove --exec 'node my_adapter.js' --server redis
  lockproof prove --on rabbitmq --rounds 100`,
		GroupID: "judge", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeTargets,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	f.draw.Scenarios = sample.DefaultScenarios
	flags.Uint64Var(&f.draw.Seed, "seed", 1, "what decides every scenario")
	flags.Var(number[int]{&f.draw.Scenarios, 1, manyScenarios}, "scenarios", "how many scenarios are drawn, of an execution each")
	defaults(cmd, map[string]string{"scenarios": fmt.Sprintf("%d; %d with --exec", sample.DefaultScenarios, gated.DefaultScenarios)})
	flags.Var(span{&f.draw.Time}, "time", "end the run earlier, such as 30s; a fifth of it is kept for making counterexamples smaller")
	flags.Var(number[int]{&f.least, 1, manyScenarios}, "least", "a run of fewer executions than `N`, as its time was over, is inconclusive")
	flags.StringVar(&f.strategy, "strategy", "", "the `WAY` schedules are drawn: random or pct (default both)")
	flags.Var(number[int]{&f.draw.Depth, 1, 64}, "pct-depth", "PCT's depth (default drawn from 2 to 5)")
	registerStrict(cmd, &f.judging.FailedAcquire)
	flags.StringArrayVarP(&f.options, "option", "o", nil, "fix an option, as `NAME=VALUE`; the command list shows them")
	flags.Var(&f.property, "property", "judge only these properties, with commas")
	flags.BoolVar(&f.first, "first", false, "end the run at the first violation")
	flags.Var(number[int]{&f.draw.Workers, 1, manyWorkers}, "workers", "how many executions go on at once (default one a processor, with --exec two, or up to six where clients wait for their clocks); the result is the same")
	flags.StringVar(&f.way, "stress", "", "with --exec, no schedule: many clients at once on a real broker; the `WAY` there is straight, or proxy, which counts")
	f.limit = clientstress.DefaultLimit
	flags.Var(span{&f.limit}, "limit", "with --stress, how long a call may take")
	f.execFlags.register(cmd)
	f.onFlags.register(cmd)
	f.shapeFlags.register(cmd)
	f.outputFlags.register(cmd)
	registerExplorer(cmd)
	section(cmd, "What is judged", "exec server lock-type contract property require", "servers holding option strict")
	section(cmd, "Where", "on", "stress")
	section(cmd, "Which executions, and how many", "scenarios seed time first", "least strategy pct-depth workers patience limit")
	section(cmd, "What happens in each", "clients", "admins slots start rounds crash-share restarts")
	section(cmd, "What is written", "out html json", "junit explorer summary sarif annotate")
	completeNames(cmd)
	return cmd
}

func (f *proveFlags) run(c *cobra.Command, args []string) error {
	args = targets(c, args)
	if err := f.fit(c); err != nil {
		return err
	}
	if f.program.Exec != "" {
		return f.external(c, args)
	}
	cfg, err := f.config(args)
	if err != nil {
		return err
	}
	if _, real := f.real(); real {
		return f.stress(c, cfg)
	}
	if cfg.Shape, err = f.shape(c, cfg.Target.Kind); err != nil {
		return err
	}
	if cfg.Known, cfg.Earlier, err = f.begin(c, cfg); err != nil {
		return err
	}
	line := newProgress().within(cfg.Time)
	cfg.Found, cfg.Progress = f.found, func(p engine.Progress) {
		line.part(p.Scenarios, p.Of, "%d of %d executions, %s violated", p.Scenarios, p.Of, style.Plural(p.Violated, "property"))
	}
	res, err := sample.Prove(c.Context(), cfg)
	line.done()
	if err != nil {
		return err
	}
	return f.write(c, res)
}

// begin repeats the stored counterexamples of earlier runs before the run draws any scenario. It also reads the known
// findings.
func (f *proveFlags) begin(c *cobra.Command, run kept.Carrier) (known.Findings, *kept.Earlier, error) {
	findings, err := f.known()
	if err == nil {
		f.earlier, err = run.CarryOut(c.Context(), kept.Past{Folder: f.folder(), Command: replaying})
	}
	return findings, f.earlier, err
}

// fit returns an error for flags that have no effect in the requested kind of run.
func (f *proveFlags) fit(c *cobra.Command) error {
	if err := besideStart(c); err != nil {
		return err
	}
	if f.program.Exec != "" {
		if err := f.besideServer(c); err != nil {
			return err
		}
	}
	if err := f.handOver(c); err != nil {
		return err
	}
	_, real := f.real()
	if kind := kindNamed(f.on); f.program.Exec != "" && kind != nil {
		return kind.beyondExec(f.on)
	}
	if err := f.fitLeast(c); err != nil {
		return err
	}
	switch {
	case f.program.Exec == "" && f.way != "":
		return errors.New("--stress without --exec: a target of ours is always put under stress on a real broker: leave --stress out, or name a command")
	case f.way == "" && c.Flags().Changed("limit"):
		return errors.New("--limit without --stress: expected --patience, or --stress")
	case f.way != "":
		return cmp.Or(f.checkStress(c), unscheduled(c))
	case f.program.Exec == "" && real:
		return cmp.Or(alien(c), unscheduled(c))
	case f.program.Exec == "":
		return cmp.Or(alien(c), f.fitDepth(c))
	case real:
		return cmp.Or(given(c, "with --exec on a real broker: behind the gate it is not restarted; leave it out", "restarts"),
			given(c, "with --exec on a real broker: slots are taken away from the simulated one alone; leave it out", "start"), f.fitDepth(c))
	}
	return f.fitDepth(c)
}

// alien returns an error for flags that apply only to an external program.
func alien(c *cobra.Command) error {
	return given(c, "without --exec: expected the command of the lock that is meant", "lock-type", "patience", "contract", "holding", "server", "servers")
}

// scheduled are the flags that apply only to runs with a schedule, as opposed to stress runs.
var scheduled = []string{"scenarios", "least", "time", "strategy", "pct-depth", "workers", "first", "start"}

// unscheduled returns an error for the flags in scheduled.
func unscheduled(c *cobra.Command) error {
	return given(c, "on a real broker without a schedule: nothing is drawn, and the history is judged when all is over; leave it out, --rounds says how much is done",
		scheduled...)
}

// fitLeast returns an error if --least exceeds the number of executions.
func (f *proveFlags) fitLeast(c *cobra.Command) error {
	if most := f.howMany(c); f.least > most {
		return fmt.Errorf("--least %d: only %d are run; expected at most as many, or a larger --scenarios", f.least, most)
	}
	return nil
}

// howMany is the number of executions of the run.
func (f *proveFlags) howMany(c *cobra.Command) int {
	if f.program.Exec != "" && !c.Flags().Changed("scenarios") {
		return gated.DefaultScenarios
	}
	return f.draw.Scenarios
}

// fitDepth returns an error for --pct-depth if the strategy is not PCT.
func (f *proveFlags) fitDepth(c *cobra.Command) error {
	if f.strategy != scenario.Random.String() {
		return nil
	}
	return given(c, "with --strategy random: it is PCT's; leave it out, or have --strategy pct", "pct-depth")
}

// judge sets the properties to judge, those that end the run, and those that are required.
func (f *proveFlags) judge(applicable property.Set, kind lock.Kind) (err error) {
	if f.judging.Properties, err = f.property.judged(applicable, kind); err != nil {
		return err
	}
	if f.first {
		f.draw.Until = f.judging.Properties
	}
	return f.demand(f.judging.Properties, kind)
}

// config returns the configuration of a run with a lock of this module, according to the flags.
func (f *proveFlags) config(args []string) (cfg sample.Config, err error) {
	name := "semaphore"
	if len(args) == 1 {
		name = args[0]
	}
	if cfg.Target, err = engine.TargetNamed(name); err != nil {
		return cfg, err
	}
	if cfg.Options, err = pairs(f.options); err != nil {
		return cfg, err
	}
	if err := f.settleStrategy(); err != nil {
		return cfg, err
	}
	if err := f.judge(property.Of(cfg.Target), cfg.Target.Kind); err != nil {
		return cfg, err
	}
	cfg.Sampling, cfg.Judging = f.draw, f.judging
	return cfg, nil
}

// settleStrategy parses the flag --strategy.
func (f *proveFlags) settleStrategy() error {
	if f.strategy == "" {
		return nil
	}
	var s scenario.Strategy
	if err := s.UnmarshalText([]byte(f.strategy)); err != nil || s == scenario.Replay {
		return fmt.Errorf("--strategy %q: expected random or pct", f.strategy)
	}
	f.draw.Strategies = []scenario.Strategy{s}
	return nil
}
