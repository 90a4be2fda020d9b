package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/compare"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
)

// compareFlags are the flags of `compare`.
type compareFlags struct {
	time      time.Duration
	seed      uint64
	scenarios int
	on        []string
	clients   []int
	json      bool
	html      string
}

func compareCommand() *cobra.Command {
	f := compareFlags{time: 90 * time.Second, seed: 1, scenarios: compare.DefaultScenarios}
	cmd := &cobra.Command{
		Use:   "compare [TARGET…]",
		Short: "put locks side by side: which should I take?",
		Long: `Puts locks side by side, all references of all servers unless some are named: which
properties hold with which faults, and what operations cost, on the simulated servers. Every
execution of 2 clients and 1 slot is visited, without a fault and with one of each kind, if
there is time for it. Properties of a configuration that is not wholly visited are only
passed.

Further figures are of the real servers that are there: how long operations take one client
alone, and how many bytes. Acquires granted a second are counted for so many clients, each
of a lock of its own and all of one. The last figure is how soon the slot of a holder that
dies is another's. A server that is missing is left out, and named. They are looked for
where LOCKPROOF_AMQP_URL, LOCKPROOF_REDIS_URL, LOCKPROOF_MYSQL_URL and
LOCKPROOF_POSTGRES_URL say, else on this machine; Consul where CONSUL_HTTP_ADDR says. None
is started, except in a container whose image --on names. Locks there have names of their own, and are deleted. Commits of databases are
as durable as the server's settings have them.

The exit code is 1 if a property of any is lost. A missing answer is said in the table, and
does not change the exit code.`,
		Example: `  lockproof compare
  lockproof compare semaphore token-semaphore --time 10s
  lockproof compare --on redis://127.0.0.1:6379/0 --clients 1,16
  lockproof compare --on simulated --markdown locks.md`,
		GroupID: "judge", ValidArgsFunction: completeSeveralTargets,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := cmd.Flags()
	flags.Var(span{&f.time}, "time", "about how long it may take")
	flags.Uint64Var(&f.seed, "seed", f.seed, "what decides the executions that are drawn")
	flags.Var(number[int]{&f.scenarios, 1, manyScenarios}, "scenarios", "how many scenarios are drawn of each lock")
	flags.StringSliceVar(&f.on, "on", nil, "the `ADDRESSES` of real servers, such as amqp:// and redis://, or images to start in containers, such as rabbitmq:4.1, with commas; or simulated, to use none")
	flags.IntSliceVar(&f.clients, "clients", []int{1, 8, 64}, "how many clients use a lock on a real server at once")
	flags.BoolVar(&f.json, "json", false, "print the comparison as JSON")
	registerTables(cmd)
	flags.StringVar(&f.html, "html", "", "write it as one HTML `FILE`, with charts")
	defaults(cmd, map[string]string{"clients": "1,8,64"})
	return cmd
}

func (f *compareFlags) run(c *cobra.Command, names []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	cfg := compare.Config{Targets: engine.References(), Time: f.time, Scenarios: f.scenarios, Seed: f.seed}
	if len(names) > 0 {
		cfg.Targets = nil
	}
	for _, name := range names {
		t, err := engine.TargetNamed(name)
		if err != nil {
			return err
		}
		cfg.Targets = append(cfg.Targets, t)
	}
	var servers []report.ComparedServer
	if !f.simulated() {
		if err := reachable(c, f.on, cfg.Targets); err != nil {
			return err
		}
		found, told, err := reals(c, f.on, cfg.Targets)
		if err != nil {
			return err
		}
		servers = told
		cfg.Time = f.time / 2
		cfg.Measure = measuring(found, f.clients, f.time/2, len(cfg.Targets))
	}
	line := newProgress().within(f.time)
	cfg.Progress = func(done, of int, t *lock.Target) { line.part(done, of, "%d of %d locks, %s", done, of, t.Name) }
	table, err := compare.Run(c.Context(), cfg)
	line.done()
	table.Servers, table.Clients = servers, f.clients
	return all(err, f.write(c, table))
}

// simulated reports whether the flags ask for simulated servers only.
func (f *compareFlags) simulated() bool { return slices.Equal(f.on, []string{simulated}) }

// mostClients is the maximum number of clients with which a lock is measured.
const mostClients = 1000

// check returns an error for invalid flags.
func (f *compareFlags) check(c *cobra.Command) error {
	if f.simulated() {
		return given(c, "with --on simulated: there is no real server", "clients")
	}
	for _, n := range f.clients {
		if n < 1 || n > mostClients {
			return fmt.Errorf("--clients %d: expected numbers from 1 to %d", n, mostClients)
		}
	}
	return nil
}

// write prints a comparison and writes its files. An interrupted comparison is written as far as it goes. The error
// says how the comparison ended, and what could not be written.
func (f *compareFlags) write(c *cobra.Command, table *report.Comparison) error {
	table.Command, table.At = commandLine(), time.Now()
	var ended error
	switch {
	case len(table.Losers()) > 0:
		ended = errViolated
	case table.Interrupted:
		ended = errInterrupted
	}
	return all(ended, f.print(c.OutOrStdout(), table),
		writeTables(c, func(w io.Writer) error { return report.WriteComparisonMarkdown(w, table) }),
		writeFile(c, "html", func(w io.Writer) error { return report.WriteComparisonPage(w, table) }),
	)
}

func (f *compareFlags) print(w io.Writer, table *report.Comparison) error {
	if f.json {
		return report.WriteComparisonJSON(w, table)
	}
	return report.WriteComparison(w, table, outputStyle())
}
