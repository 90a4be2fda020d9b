package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Default times of a fault plan.
const (
	usualLength = 15 * time.Second // duration of a cut or a pause; nodes notice either within about five seconds
	usualPause  = 2 * time.Second
)

// clusterProveFlags are the flags of `cluster prove`.
type clusterProveFlags struct {
	clusterFlags
	server    string
	on        string
	hooks     []string
	design    string
	exec      string
	lockType  string
	slots     int
	options   []string
	faults    []string
	at        int
	clientsAt []int
	queueAt   int
	seed      uint64
	length    time.Duration
	hold      time.Duration
	verify    time.Duration
	settle    time.Duration
	limit     time.Duration
	jsonl     string
	outputFlags
}

func clusterProveCommand() *cobra.Command {
	f := clusterProveFlags{slots: 1, seed: 1, length: usualLength, settle: clustered.DefaultSettle, limit: clustered.DefaultLimit, verify: 200 * time.Millisecond}
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "have a lock be held on a real cluster while faults befall its nodes, and judge it",
		Long: `Starts a private RabbitMQ cluster. The first client holds the lock, the others try to get
it, and faults befall the nodes: drawn from the seed, unless flags name them. Holds last
longer than nodes take to notice, and clients verify in a rhythm. When all is mended, the
lock is audited: who still believes verifies, and fresh clients acquire what is free.

Two clients hold the lock for certain if both were told yes, neither was told anything
since, and their connections live. For how long that was, and how the first could know, is
measured and printed; no verdict rests on it.

The cluster of --on is left as it is, but for what hooks do, and that is undone at the end.
A hook is given the addresses of nodes in LOCKPROOF_NODES, with spaces. That of cut is given
in LOCKPROOF_TO those that no longer receive anything from them.

With --server redis the nodes are redis-servers, of which the first is the master, and each has
a Sentinel. Clients are given redis+sentinel://HOST:PORT,HOST:PORT,HOST:PORT/lockproof, the
Sentinels' addresses, the node's own first; one that binds its connections to the address behind
?from= is cut off with its node. The designs are redis-lease and redis-lease-waited, whose
leases last 5 seconds. A hold is released after a second, unless --hold says otherwise.

The lock is one of the designs ` + designNames() + `, or anybody's program, by
--exec, whose clients are given the address of the node that they are placed at.`,
		Example: `  lockproof cluster prove --fault cut
  lockproof cluster prove --design classic-token --fault rolling-restart
  lockproof cluster prove --exec 'python3 my_adapter.py' --jsonl history.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.design, "design", "", "the design of the lock, by `NAME` (default exclusive-queue)")
	flags.StringVar(&f.exec, "exec", "", "judge the lock behind this `COMMAND`, run once for each client")
	flags.StringVar(&f.lockType, "lock-type", "mutex", "with --exec, the `TYPE` of lock: semaphore, mutex or persistent-mutex")
	flags.Var(number[int]{&f.slots, 1, 100}, "slots", "with --exec, how many slots a lock has that begins with some")
	flags.StringArrayVarP(&f.options, "option", "o", nil, "with --exec, an option for its clients, as `NAME=VALUE`")
	f.clusterFlags.register(cmd)
	flags.StringVar(&f.server, "server", "rabbitmq", "which `KIND` of cluster is started: rabbitmq, or redis with a Sentinel at each node")
	flags.StringVar(&f.on, "on", "", "use a cluster of yours, whose nodes are at these `URLS`, with commas; hooks are its faults")
	flags.StringArrayVar(&f.hooks, "hook", nil, "with --on, a command of yours, as `NAME=COMMAND`: cut, heal, kill, terminate, start, pause or resume")
	flags.StringSliceVar(&f.faults, "fault", nil, "the `FAULTS` that follow one another, with commas: "+faultNames()+" (default drawn)")
	flags.Var(number[int]{&f.at, 1, cluster.LargestCluster}, "fault-at", "the node that faults befall")
	flags.IntSliceVar(&f.clientsAt, "clients-at", nil, "the nodes where the clients are, the holder's first, such as 1,2")
	flags.Var(number[int]{&f.queueAt, 1, cluster.LargestCluster}, "queue-at", "the node where the lock's queue is, for designs that have one")
	defaults(cmd, map[string]string{"fault-at": "drawn", "clients-at": "two, drawn", "queue-at": "drawn"})
	flags.Uint64Var(&f.seed, "seed", f.seed, "what decides all that is drawn")
	flags.Var(span{&f.length}, "length", "how long a cut or a pause lasts")
	flags.Var(span{&f.hold}, "hold", "release a hold after so long (default when the run ends)")
	flags.Var(span{&f.verify}, "verify", "how long a client waits between two verifies")
	flags.Var(span{&f.settle}, "settle", "how long nodes have to notice that all is mended, before the audit")
	flags.Var(span{&f.limit}, "limit", "how long a call may take")
	flags.StringVar(&f.jsonl, "jsonl", "", "write the history as JSON Lines to a `FILE`, for lockproof check --audit")
	f.registerReport(cmd)
	section(cmd, "What is judged", "design exec lock-type", "slots option require")
	section(cmd, "Where", "server nodes mode clients-at queue-at on", "hook net-ticktime rabbitmq khepri")
	section(cmd, "What happens", "fault seed length", "fault-at hold verify settle limit")
	section(cmd, "What is written", "jsonl html json", "junit summary sarif annotate")
	return cmd
}

// designNames joins the names of all designs, for the description of flags.
func designNames() string {
	var names []string
	for _, d := range designs.All {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

func (f *clusterProveFlags) run(c *cobra.Command) error {
	trial, err := f.trial(c)
	if err != nil {
		return err
	}
	faults, err := faultsNamed(f.faults)
	if err != nil {
		return err
	}
	if err := f.checkServer(c); err != nil {
		return err
	}
	if err := f.demand(property.ApplicableExternal(trial.Kind), trial.Kind); err != nil {
		return err
	}
	cfg := clustered.Config{Seed: f.seed, Settle: f.settle, Hold: f.hold, Verify: f.verify, Limit: f.limit, Keep: f.keepHistory, Log: tell}
	plan := nemesis.Plan{Faults: faults, At: f.at, Length: f.length, Pause: usualPause, Seed: f.seed}
	existing, err := f.existing(c, &plan)
	if err != nil {
		return err
	}
	f.place(c, &trial)
	if err := f.within(c, &trial); err != nil {
		return err
	}
	if plan.Nodes = f.nodes; existing == nil || len(faults)+len(plan.From) > 0 {
		cfg.Steps = plan.Draw()
	}
	if cfg.Cluster, cfg.Sweep, err = f.cluster(c, existing); err != nil {
		return err
	}
	cfg.Trials = []clustered.Trial{trial}
	outcomes, err := clustered.Run(c.Context(), cfg)
	if len(outcomes) == 0 || outcomes[0].Report == nil {
		return all(err, firstError(outcomes))
	}
	out := &outcomes[0]
	f.foresee(&trial, cfg.Steps, existing != nil)
	if f.server != redisCluster {
		tell("this is one execution: another mode (--mode), other nodes (--clients-at, --queue-at) and another --seed may come to something else; `lockproof doctor` tells what was measured of each")
	}
	out.Report.Interrupted = c.Context().Err() != nil
	res := &engine.Result{Report: out.Report, History: out.History, Reading: linear.Options{}}
	return f.write(c, res, err, out.Err)
}

// firstError returns the first error of a trial.
func firstError(outcomes []clustered.Outcome) error {
	for _, o := range outcomes {
		if o.Err != nil {
			return o.Err
		}
	}
	return nil
}

// trial returns the trial of the lock to judge: a built-in design or an external program.
func (f *clusterProveFlags) trial(c *cobra.Command) (t clustered.Trial, err error) {
	if f.exec == "" {
		if err := given(c, "without --exec: leave it out", "lock-type", "slots", "option"); err != nil {
			return t, err
		}
		if f.server == redisCluster {
			return f.lease()
		}
		d, err := designs.Named(cmp.Or(f.design, designs.All[0].Name))
		if err != nil {
			return t, fmt.Errorf("--design %w", err)
		}
		return clustered.Trial{Design: &d, Kind: lock.Mutex}, nil
	}
	if f.design != "" {
		return t, errors.New("--design beside --exec: expected one of them")
	}
	if err := given(c, "with --exec: where its queues are is not known; leave it out", "queue-at"); err != nil {
		return t, err
	}
	kind, err := lock.KindNamed(f.lockType)
	if err != nil {
		return t, fmt.Errorf("--lock-type: %w", err)
	}
	options, err := pairs(f.options)
	if err != nil {
		return t, err
	}
	t = clustered.Trial{
		Exec: f.exec, Kind: kind, Slots: f.slots, Options: make(map[string]any),
		Starter: &subprocess.Starter{Command: f.exec, Stderr: c.ErrOrStderr(), Parallel: true},
	}
	for name, value := range told(options) {
		t.Options[name] = value
	}
	return t, nil
}

// place puts clients and queue on the nodes that flags name. Without these flags the nodes are drawn.
func (f *clusterProveFlags) place(c *cobra.Command, t *clustered.Trial) {
	random := rand.New(rand.NewPCG(f.seed, 1))
	nodes := random.Perm(f.nodes)
	t.Clients, t.Queue = []int{nodes[0] + 1, nodes[1] + 1}, 1+random.IntN(f.nodes)
	if len(f.clientsAt) > 0 {
		t.Clients = f.clientsAt
	}
	if c.Flags().Changed("queue-at") {
		t.Queue = f.queueAt
	}
}

// mostClusterClients is the maximum number of clients of a lock on a cluster.
const mostClusterClients = 50

// within returns an error if a flag names a node that does not exist.
func (f *clusterProveFlags) within(c *cobra.Command, t *clustered.Trial) error {
	if n := len(t.Clients); n < 2 || n > mostClusterClients {
		return fmt.Errorf("--clients-at names %d: expected 2 to %d, the holder's node first", n, mostClusterClients)
	}
	for _, n := range t.Clients {
		if n < 1 || n > f.nodes {
			return fmt.Errorf("--clients-at %d: expected nodes from 1 to %d", n, f.nodes)
		}
	}
	for name, n := range map[string]int{"queue-at": f.queueAt, "fault-at": f.at} {
		if c.Flags().Changed(name) && n > f.nodes {
			return fmt.Errorf("--%s %d: expected a node from 1 to %d", name, n, f.nodes)
		}
	}
	return nil
}

// keepHistory writes the history to the file of --jsonl, before it is judged, and returns the file's path.
func (f *clusterProveFlags) keepHistory(h *history.History) (string, error) {
	if f.jsonl == "" {
		return "", nil
	}
	err := writeFile(f.command, "jsonl", func(w io.Writer) error { return histories.WriteHistory(w, h) })
	return f.jsonl, err
}
