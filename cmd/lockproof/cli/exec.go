package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// execFlags say whose program is judged.
type execFlags struct {
	exec     string
	lockType string
	patience time.Duration
	contract contractValue
	holding  holdingValue
	serverFlags
}

// serverFlags say which server the program's lock uses.
type serverFlags struct {
	server  string
	servers int
}

// register adds the flags, which begin with what they belong to.
func (f *serverFlags) register(cmd *cobra.Command, with string) {
	f.servers = 1
	cmd.Flags().StringVar(&f.server, "server", gated.AMQP, with+"the `KIND` of server that the lock uses: amqp, or one that is started here: "+strings.Join(gated.Kinds()[1:], ", ")+"; tcp is any, which LOCKPROOF_TCP names")
	cmd.Flags().Var(number[int]{&f.servers, 1, gated.MostServers}, "servers", "with a --server that is started here, how many the lock stands on, none of which knows of the others")
}

func (f *execFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.exec, "exec", "", "judge the lock behind this `COMMAND`, run once for each client")
	flags.StringVar(&f.lockType, "lock-type", "", "with --exec, the `TYPE` of lock: semaphore, mutex or persistent-mutex")
	defaults(cmd, usualLockType)
	f.serverFlags.register(cmd, "with --exec, ")
	flags.Var(&f.contract, "contract", "with --exec, the `PROMISES` that the lock must keep: guidelines, mutex, semaphore, lease, or some by name")
	flags.Var(&f.holding, "holding", "with --exec, what `HOLDS` the lock at the broker, such as 'queue jobs-{slot}' (or message, absent, consumer): errors are found earlier")
	f.patience = 2 * time.Second
	flags.Var(span{&f.patience}, "patience", "with --exec, how long a client may send nothing before the others go on without it")
}

// usualLockType is the default of --lock-type.
var usualLockType = map[string]string{"lock-type": "semaphore; mutex with a --server other than amqp"}

// contractValue is the promises that a contract demands, as a flag.
type contractValue struct{ demands property.Set }

// String implements pflag.Value.
func (v *contractValue) String() string { return strings.Join(v.demands.Names(), ",") }

// Type implements pflag.Value.
func (*contractValue) Type() string { return "PROMISES" }

// Set implements pflag.Value.
func (v *contractValue) Set(text string) error {
	demands, err := property.ParseContract(text)
	if err == nil {
		v.demands |= demands
	}
	return err
}

// holdingValue is what is declared to hold a lock, as a flag.
type holdingValue struct{ holding.Declared }

// Type implements pflag.Value.
func (*holdingValue) Type() string { return "HOLDS" }

// Set implements pflag.Value.
func (v *holdingValue) Set(text string) (err error) {
	v.Declared, err = holding.Parse(text)
	return err
}

// notAMQP reports whether the lock uses a server that is not AMQP's.
func (f *serverFlags) notAMQP() bool { return f.server != gated.AMQP }

// besideServer refuses the flags that are for a lock at a broker alone.
func (f *serverFlags) besideServer(c *cobra.Command) error {
	if f.notAMQP() {
		return given(c, "beside --server "+f.server+": leave it out", "on", "holding", "stress", "channel-errors")
	}
	if f.servers > 1 {
		return fmt.Errorf("--servers %d without --server redis: expected one server, or --server redis", f.servers)
	}
	return nil
}

// ours is the server of ours that stands behind the gate.
func (f *serverFlags) ours(c *cobra.Command) (on gated.Server, err error) {
	if err := f.besideServer(c); err != nil {
		return on, err
	}
	if on, err = gated.ServerOf(f.server, f.servers); err != nil {
		return on, fmt.Errorf("--server: %w", err)
	}
	return on, nil
}

// kind is the type that the program's lock is taken for.
func (f *execFlags) kind() (lock.Kind, error) { return f.kindOf(f.lockType) }

// kindOf is the type of lock that is named, or the usual one on the server.
func (f *serverFlags) kindOf(lockType string) (lock.Kind, error) {
	usual := lock.Semaphore
	if f.notAMQP() {
		usual = lock.Mutex
	}
	kind, err := lock.KindNamed(cmp.Or(lockType, usual.String()))
	if err != nil {
		return 0, fmt.Errorf("--lock-type: %w", err)
	}
	return kind, nil
}

// alone refuses a target of ours beside the program.
func (f *execFlags) alone(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q beside --exec: expected one of a target's name and a command", args[0])
	}
	return nil
}

// told is a list of options as they are handed to the program.
func told(options [][2]string) map[string]string {
	out := make(map[string]string)
	for _, o := range options {
		out[o[0]] = o[1]
	}
	return out
}

// external judges somebody else's program.
func (f *proveFlags) external(c *cobra.Command, args []string) error {
	if err := f.alone(args); err != nil {
		return err
	}
	on, err := f.ours(c)
	if err != nil {
		return err
	}
	cfg, err := f.config(nil)
	if err != nil {
		return err
	}
	kind, err := f.kind()
	if err != nil {
		return err
	}
	applicable := f.property.external(kind, &f.require)
	if f.way != "" { // the history alone is judged
		applicable &^= property.Set(0).With(property.NoCrash)
	}
	if err := f.judge(&cfg, applicable, kind); err != nil {
		return err
	}
	options := told(cfg.Options)
	if f.way != "" {
		return f.stressExternal(c, kind, options, &cfg)
	}
	shape, err := f.shape(c, kind)
	if err != nil {
		return err
	}
	if !f.notAMQP() {
		if on, err = f.behindGate(c); err != nil {
			return err
		}
	}
	workers, done := subprocess.LeaveProcessors()
	defer done()
	more := gated.MoreWorkers * workers
	if f.workers > 0 {
		workers, more = f.workers, 0
	}
	starter := &subprocess.Starter{Command: f.exec, Stderr: c.ErrOrStderr()}
	f.earlier, err = f.carryOut(c, kept.Lock{Exec: secret.Command(f.exec), Kind: kind, Server: on.Kind, Servers: on.Servers, Options: engine.ByName(options), Restarts: !on.Shared},
		&cfg, func(ctx context.Context, ce *histories.Counterexample) (*engine.Replayed, error) {
			ce.Exec, ce.ExecOptions = f.exec, options // with their secrets
			return gated.ReplayOf(ctx, nil, ce, starter, on)
		})
	if err != nil {
		return err
	}
	findings, err := f.known()
	if err != nil {
		return err
	}
	line := newProgress().within(f.time)
	res, err := gated.Prove(c.Context(), gated.Config{
		Starter: starter, Exec: f.exec, Kind: kind, Options: options, Demands: f.contract.demands, Holding: f.holding.Declared,
		Seed: f.seed, Scenarios: f.howMany(c), Time: f.time, Strategies: cfg.Strategies, Depth: f.pctDepth, Shape: shape,
		Properties: cfg.Properties, Until: cfg.Until, FailedAcquire: cfg.FailedAcquire, Workers: workers, More: more, Patience: f.patience, On: on, Known: findings, Found: f.found,
		Progress: func(p engine.Progress) {
			if p.Tries > 0 {
				line.say("%s violated; making executions smaller, try %d", style.Plural(p.Violated, "property"), p.Tries)
				return
			}
			line.part(p.Scenarios, p.Of, "%d of %d executions, %s violated", p.Scenarios, p.Of, style.Plural(p.Violated, "property"))
		},
	})
	line.done()
	if res == nil {
		return err
	}
	return all(f.write(c, res), err)
}
