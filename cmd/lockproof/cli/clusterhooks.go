package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/adapters/redis/sentinel"
)

// existing returns the user's cluster that --on names; nil if --on is not given. Each fault of the plan needs a hook.
func (f *clusterProveFlags) existing(c *cobra.Command, plan *nemesis.Plan) (*cluster.Hooked, error) {
	if f.on == "" {
		return nil, given(c, "without --on: leave it out", "hook")
	}
	if err := given(c, "with --on: the cluster is as it is; leave it out", "server", "nodes", "mode", "net-ticktime", "rabbitmq", "khepri"); err != nil {
		return nil, err
	}
	hooks, err := cluster.ParseHooks(f.hooks)
	if err != nil {
		return nil, fmt.Errorf("--hook %w", err)
	}
	for _, fault := range plan.Faults {
		if missing := hooks.Missing(fault); missing != "" {
			return nil, fmt.Errorf("--fault %s on a cluster of yours: name the command that does it, by --hook '%s=COMMAND'", fault, missing)
		}
	}
	plan.From = hooks.Faults()
	if len(hooks) > 0 && len(plan.From) == 0 {
		return nil, errors.New("--hook: a fault takes two, such as cut and heal, kill and start, or pause and resume")
	}
	h, err := cluster.Join(c.Context(), strings.Split(f.on, ","), hooks)
	if err != nil {
		return nil, fmt.Errorf("--on: %w", err)
	}
	f.nodes = h.Nodes()
	return h, nil
}

// cluster returns the cluster on which to hold locks. It is the user's, with a function that deletes the run's queues
// there, or one that is started for the run.
func (f *clusterProveFlags) cluster(c *cobra.Command, existing *cluster.Hooked) (clustered.Cluster, func(queues []string) error, error) {
	if f.server == redisCluster {
		started, err := sentinel.Start(c.Context(), f.nodes, tell)
		if err == nil {
			atEnd(c, started.Stop)
		}
		return started, nil, err
	}
	if existing == nil {
		started, err := f.start(c)
		return started, nil, err
	}
	atEnd(c, existing.Abandon)
	return existing, (&rabbitmq.Broker{URL: existing.URL(1)}).Sweep, nil
}
