package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
)

// clusterExploreFlags are the flags of `cluster explore`.
type clusterExploreFlags struct {
	clusterCells
	nodes     int
	khepri    bool
	inTurn    bool
	clientsAt []int
	queueAt   int
}

func clusterExploreCommand() *cobra.Command {
	f := clusterExploreFlags{nodes: 3}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "show on a simulated cluster the shortest execution in which two clients hold a lock",
		Long: `Looks through all executions of a simulated RabbitMQ cluster in which a fault befalls the
first node, for the shortest after which two clients hold the lock and neither has been told
anything. Client A holds it before the fault, and client B tries to get it.

With one design, mode, fault and placement, the execution is printed, with the command that
has the fault befall real nodes. With more, a table has how many steps each takes. Nothing is
started.

The exit code is 1 if two clients can hold any of the locks.`,
		Example: `  lockproof cluster explore
  lockproof cluster explore --design classic-token --mode ignore --fault kill`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.register(cmd, "explore")
	flags := cmd.Flags()
	flags.Var(number[int]{&f.nodes, cluster.SmallestCluster, clustered.MostSimulated}, "nodes", "how many nodes the cluster has")
	flags.BoolVar(&f.khepri, "khepri", false, "nodes keep their records by Khepri, which RabbitMQ 4.0 and 4.1 do on request")
	flags.BoolVar(&f.inTurn, "in-turn", false, "the faults follow one another, instead of each befall a cluster of its own")
	flags.IntSliceVar(&f.clientsAt, "clients-at", nil, "the nodes of A and B, such as 1,2 (default the placements of cluster table)")
	flags.IntVar(&f.queueAt, "queue-at", 0, "with --clients-at, the node of the lock's queue, for designs that have one")
	defaults(cmd, map[string]string{"queue-at": "1"})
	return cmd
}

func (f *clusterExploreFlags) run(c *cobra.Command) error {
	cfg := clustered.ModelConfig{Nodes: f.nodes, Khepri: f.khepri, InTurn: f.inTurn}
	var err error
	if cfg.Designs, cfg.Modes, cfg.Faults, err = f.named(); err != nil {
		return err
	}
	if f.khepri && len(f.modes) == 0 {
		cfg.Modes = cfg.Modes[:1] // with Khepri the mode makes no difference
	}
	if cfg.At, err = f.place(c); err != nil {
		return err
	}
	m, err := clustered.Explore(cfg)
	if err != nil {
		return err
	}
	if len(m.Cells) == 0 {
		return fmt.Errorf("--khepri: RabbitMQ with Khepri has no mirrored queues, so that there is nothing to explore")
	}
	m.Command = commandLine()
	var ended error
	if m.Wrong() {
		ended = errViolated
	}
	return all(ended, report.WriteClusterModel(c.OutOrStdout(), m, outputStyle()))
}

// foresee prints what the simulated cluster predicts for a run on real nodes, if it models such a run.
func (f *clusterProveFlags) foresee(t *clustered.Trial, steps []nemesis.Step, theirs bool) {
	if theirs || f.server == redisCluster || f.nodes > clustered.MostSimulated {
		return
	}
	m, err := clustered.ModelOf(t, steps, f.nodes, cluster.Mode(f.mode), f.khepri)
	if err != nil {
		return // the simulated cluster models two clients of a built-in design only
	}
	r, err := m.Explore()
	switch {
	case err != nil:
	case len(r.Steps) > 0:
		tell(fmt.Sprintf("on the simulated cluster two clients can hold this lock under these faults, in %d steps", len(r.Steps)))
	default:
		tell(fmt.Sprintf("on the simulated cluster no two clients hold this lock under these faults, in any of %d states", r.States))
	}
}

// place returns the placement that the flags define; nil if they define none.
func (f *clusterExploreFlags) place(c *cobra.Command) (*clustered.Placement, error) {
	if len(f.clientsAt) == 0 {
		if c.Flags().Changed("queue-at") {
			return nil, fmt.Errorf("--queue-at %d: name the nodes of the clients too, by --clients-at", f.queueAt)
		}
		return nil, nil
	}
	if len(f.clientsAt) != 2 {
		return nil, fmt.Errorf("--clients-at names %d nodes: expected two, the holder's first", len(f.clientsAt))
	}
	p := &clustered.Placement{A: f.clientsAt[0], B: f.clientsAt[1], Queue: max(f.queueAt, 1)}
	for _, n := range []int{p.A, p.B, p.Queue} {
		if n < 1 || n > f.nodes {
			return nil, fmt.Errorf("--clients-at and --queue-at: node %d: expected nodes from 1 to %d", n, f.nodes)
		}
	}
	return p, nil
}
