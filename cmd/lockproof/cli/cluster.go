package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/nemesis"
)

// clusterFlags say which cluster to start.
type clusterFlags struct {
	nodes  int
	mode   string
	tick   int // net_ticktime in seconds
	folder string
	khepri bool
}

// register adds the flags to a command that starts one cluster.
func (f *clusterFlags) register(cmd *cobra.Command) {
	f.nodes = 3
	cmd.Flags().Var(number[int]{&f.nodes, cluster.SmallestCluster, cluster.LargestCluster}, "nodes", "how many nodes the cluster has")
	cmd.Flags().StringVar(&f.mode, "mode", string(cluster.PauseMinority), "what nodes do when they are separated: the `MODE` ignore, pause_minority or autoheal")
	f.tick = cluster.DefaultTick
	cmd.Flags().Var(number[int]{&f.tick, 1, 3600}, "net-ticktime", "for how many `SECONDS` another node may say nothing, before nodes miss it")
	f.registerFolder(cmd)
}

func (f *clusterFlags) registerFolder(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.folder, "rabbitmq", "", "start the RabbitMQ in this `FOLDER`, unpacked or with its system (default the installed one)")
	cmd.Flags().BoolVar(&f.khepri, "khepri", false, "nodes keep their records by Khepri, which RabbitMQ 4.0 and 4.1 do on request")
}

// start starts the cluster. It is stopped when the command ends.
func (f *clusterFlags) start(c *cobra.Command) (*cluster.Cluster, error) {
	mode, err := cluster.ModeNamed(f.mode)
	if err != nil {
		return nil, fmt.Errorf("--mode %w", err)
	}
	started, err := cluster.Start(c.Context(), cluster.Options{Nodes: f.nodes, Mode: mode, Khepri: f.khepri, Tick: f.tick, Folder: f.folder, Log: tell})
	if err != nil {
		return nil, err
	}
	atEnd(c, started.Stop)
	return started, nil
}

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "is this lock safe on my cluster? real RabbitMQ clusters, cut, killed, paused and restarted",
		Long: `Starts private RabbitMQ clusters on loopback ports of this machine, from the RabbitMQ that
is installed or unpacked, without root. Faults befall their nodes, while locks are held
for longer than nodes take to notice. Everything is stopped at the end, also when lockproof
is killed. A RabbitMQ that runs on this machine is left alone.`,
		Example: `  lockproof cluster prove --fault cut
  lockproof cluster explore --fault cut
  lockproof cluster table --markdown locks.md
  lockproof cluster up`,
		GroupID: "judge", Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(clusterProveCommand(), clusterExploreCommand(), clusterTableCommand(), clusterUpCommand())
	return cmd
}

func clusterUpCommand() *cobra.Command {
	f := new(clusterFlags)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "start a cluster, print its addresses, and stop it when interrupted",
		Long: `Starts a private RabbitMQ cluster, waits until all its nodes say that it has formed, prints
the address of each, and stops it when it is interrupted. Nodes notice within some seconds
that another is gone: their net_ticktime is 4, unless a flag says otherwise.`,
		Example: `  lockproof cluster up --nodes 3 --mode pause_minority`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.up(c) },
	}
	f.register(cmd)
	return cmd
}

// up runs a cluster until it is interrupted. An interrupt is the normal end and no error.
func (f *clusterFlags) up(c *cobra.Command) error {
	started, err := f.start(c)
	if err != nil {
		return err
	}
	for i := range started.Nodes() {
		fmt.Fprintf(c.OutOrStdout(), "n%d  %s\n", i+1, started.URL(i+1))
	}
	tell(started.String() + ": it runs until it is interrupted")
	<-c.Context().Done()
	return nil
}

// faultsNamed returns the faults with the given names.
func faultsNamed(names []string) (faults []nemesis.Fault, err error) {
	for _, name := range names {
		f, err := nemesis.FaultNamed(name)
		if err != nil {
			return nil, fmt.Errorf("--fault %w", err)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// faultNames joins the names of all faults, for descriptions of flags.
func faultNames() string {
	var names []string
	for _, f := range nemesis.Faults {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
