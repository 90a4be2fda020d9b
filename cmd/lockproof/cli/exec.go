package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// execFlags say which program is judged.
type execFlags struct {
	program  gated.Lock // settings that flags set directly; settle adds the others
	lockType string
	serverFlags
}

// serverFlags say which kind of server the external lock uses.
type serverFlags struct {
	server  string
	servers int
}

// register adds the flags to a command. with is the beginning of the description of --server. It names the flag that
// --server needs, for example --exec.
func (f *serverFlags) register(cmd *cobra.Command, with string) {
	f.servers = 1
	cmd.Flags().StringVar(&f.server, "server", gated.AMQP, with+"the `KIND` of server that the lock uses: amqp, or one that is started here: "+strings.Join(gated.Kinds()[1:], ", ")+"; tcp is any, which LOCKPROOF_TCP names")
	cmd.Flags().Var(number[int]{&f.servers, 1, gated.MostServers}, "servers", "with a --server that is started here, how many the lock stands on, none of which knows of the others")
}

func (f *execFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.program.Exec, "exec", "", "judge the lock behind this `COMMAND`, run once for each client")
	flags.StringVar(&f.lockType, "lock-type", "", "with --exec, the `TYPE` of lock: semaphore, mutex or persistent-mutex")
	defaults(cmd, usualLockType)
	f.serverFlags.register(cmd, "with --exec, ")
	flags.Var(contractValue{&f.program.Demands}, "contract", "with --exec, the `PROMISES` that the lock must keep: guidelines, mutex, semaphore, lease, or some by name")
	flags.Var(holdingValue{&f.program.Holding}, "holding", "with --exec, what `HOLDS` the lock at the broker, such as 'queue jobs-{slot}' (or message, absent, consumer): errors are found earlier")
	f.program.Patience = 2 * time.Second
	flags.Var(span{&f.program.Patience}, "patience", "with --exec, how long a client may send nothing before the others go on without it")
}

// usualLockType describes the default of --lock-type in the help.
var usualLockType = map[string]string{"lock-type": "semaphore; mutex with a --server other than amqp"}

// contractValue is the value of the flag --contract: the promises that the contract demands.
type contractValue struct{ demands *property.Set }

// String implements pflag.Value.
func (v contractValue) String() string {
	if v.demands == nil {
		return ""
	}
	return strings.Join(v.demands.Names(), ",")
}

// Type implements pflag.Value.
func (contractValue) Type() string { return "PROMISES" }

// Set implements pflag.Value.
func (v contractValue) Set(text string) error {
	demands, err := property.ParseContract(text)
	if err == nil {
		*v.demands |= demands
	}
	return err
}

// holdingValue is the value of the flag --holding: the declaration of what holds a lock.
type holdingValue struct{ *holding.Declared }

// String implements pflag.Value.
func (v holdingValue) String() string {
	if v.Declared == nil {
		return ""
	}
	return v.Declared.String()
}

// Type implements pflag.Value.
func (holdingValue) Type() string { return "HOLDS" }

// Set implements pflag.Value.
func (v holdingValue) Set(text string) (err error) {
	*v.Declared, err = holding.Parse(text)
	return err
}

// notAMQP reports whether the lock uses a server other than a broker.
func (f *serverFlags) notAMQP() bool { return f.server != gated.AMQP }

// besideServer returns an error for flags that apply only to a lock on a broker.
func (f *serverFlags) besideServer(c *cobra.Command) error {
	if f.notAMQP() {
		return given(c, "beside --server "+f.server+": leave it out", "on", "holding", "stress", "channel-errors")
	}
	if f.servers > 1 {
		return fmt.Errorf("--servers %d without --server redis: expected one server, or --server redis", f.servers)
	}
	return nil
}

// ours returns the server behind the gate that lockproof starts.
func (f *serverFlags) ours(c *cobra.Command) (on gated.Server, err error) {
	if err := f.besideServer(c); err != nil {
		return on, err
	}
	if on, err = gated.ServerOf(f.server, f.servers); err != nil {
		return on, fmt.Errorf("--server: %w", err)
	}
	return on, nil
}

// settle sets those fields of f.program that depend on several flags: the server that lockproof starts, the client
// starter, the options and the lock type. A real broker is chosen later.
func (f *execFlags) settle(c *cobra.Command, args []string, options [][2]string) (err error) {
	if len(args) > 0 {
		return fmt.Errorf("%q beside --exec: expected one of a target's name and a command", args[0])
	}
	if f.program.On, err = f.ours(c); err != nil {
		return err
	}
	f.program.Starter, f.program.Options = &subprocess.Starter{Command: f.program.Exec, Stderr: c.ErrOrStderr()}, told(options)
	f.program.Kind, err = f.kindOf(f.lockType)
	return err
}

// kindOf returns the lock type with the given name. Without a name it returns the default for the server.
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

// told converts options to the form that the program's clients receive.
func told(options [][2]string) map[string]string {
	out := make(map[string]string)
	for _, o := range options {
		out[o[0]] = o[1]
	}
	return out
}

// external judges an external program.
func (f *proveFlags) external(c *cobra.Command, args []string) error {
	cfg, err := f.externalConfig(c, args)
	if err != nil {
		return err
	}
	if f.way != "" {
		return f.stressExternal(c, &cfg)
	}
	if cfg.Shape, err = f.shape(c, cfg.Kind); err != nil {
		return err
	}
	if !f.notAMQP() {
		if cfg.On, err = f.behindGate(c); err != nil {
			return err
		}
	}
	workers, done := subprocess.LeaveProcessors()
	defer done()
	if cfg.Workers == 0 {
		cfg.Workers, cfg.More = workers, gated.MoreWorkers*workers
	}
	if cfg.Known, cfg.Earlier, err = f.begin(c, cfg); err != nil {
		return err
	}
	line := newProgress().within(cfg.Time)
	cfg.Found, cfg.Progress = f.found, func(p engine.Progress) {
		if p.Tries > 0 {
			line.say("%s violated; making executions smaller, try %d", style.Plural(p.Violated, "property"), p.Tries)
			return
		}
		line.part(p.Scenarios, p.Of, "%d of %d executions, %s violated", p.Scenarios, p.Of, style.Plural(p.Violated, "property"))
	}
	res, err := gated.Prove(c.Context(), cfg)
	line.done()
	if res == nil {
		return err
	}
	return all(f.write(c, res), err)
}

// externalConfig returns the configuration according to the flags. If the server is a real broker, it is not set.
func (f *proveFlags) externalConfig(c *cobra.Command, args []string) (cfg gated.Config, err error) {
	options, err := pairs(f.options)
	if err != nil {
		return cfg, err
	}
	if err := f.settle(c, args, options); err != nil {
		return cfg, err
	}
	if err := f.settleStrategy(); err != nil {
		return cfg, err
	}
	applicable := f.property.external(f.program.Kind, &f.require)
	if f.way != "" { // in a stress run, only the history is judged
		applicable &^= property.Set(0).With(property.NoCrash)
	}
	if err := f.judge(applicable, f.program.Kind); err != nil {
		return cfg, err
	}
	cfg = gated.Config{Lock: f.program, Sampling: f.draw, Judging: f.judging}
	cfg.Scenarios = f.howMany(c)
	return cfg, nil
}
