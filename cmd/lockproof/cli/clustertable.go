package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/report"
)

// clusterTableFlags are the flags of `cluster table`.
type clusterTableFlags struct {
	clusterFlags
	clusterCells
	rounds int
	length time.Duration
}

// clusterCells are flags that say which cells of a table are requested.
type clusterCells struct{ designs, modes, faults []string }

// register adds the flags to a command. verb says, in their descriptions, what the command does with each cell.
func (f *clusterCells) register(cmd *cobra.Command, verb string) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.designs, "design", nil, "the designs to "+verb+", by `NAMES` with commas (default all)")
	flags.StringSliceVar(&f.modes, "mode", nil, "the `MODES` to "+verb+" under, with commas: ignore, pause_minority or autoheal (default all)")
	flags.StringSliceVar(&f.faults, "fault", nil, "the `FAULTS` to "+verb+" with, with commas: "+faultNames()+" (default all)")
}

// named returns the designs, modes and faults that the flags name.
func (f *clusterCells) named() (all []designs.Design, modes []cluster.Mode, faults []nemesis.Fault, err error) {
	for _, name := range f.designs {
		d, err := designs.Named(name)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("--design %w", err)
		}
		all = append(all, d)
	}
	for _, name := range f.modes {
		mode, err := cluster.ModeNamed(name)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("--mode %w", err)
		}
		modes = append(modes, mode)
	}
	if faults, err = faultsNamed(f.faults); err != nil {
		return nil, nil, nil, err
	}
	return allUnlessNamed(all, designs.All), allUnlessNamed(modes, cluster.Modes), allUnlessNamed(faults, nemesis.Faults), nil
}

// allUnlessNamed returns named, or all if named is empty.
func allUnlessNamed[T any](named, all []T) []T {
	if len(named) == 0 {
		return all
	}
	return named
}

func clusterTableCommand() *cobra.Command {
	f := clusterTableFlags{rounds: 2, length: usualLength}
	cmd := &cobra.Command{
		Use:   "table",
		Short: "measure designs, modes and faults into a table",
		Long: `Measures locks of each usual design on real clusters of three nodes: client A holds the
lock, client B tries to get it, and a fault befalls the first node. Each cell says for how
long both held it, in each run. All designs and placements are measured at once, on a fresh
cluster for each mode and fault, which takes about a minute and a half.

The exit code is 1 if any lock was held twice, lost, or never free again.`,
		Example: `  lockproof cluster table --markdown locks.md
  lockproof cluster table --design quorum-token --fault cut --length 85s`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := cmd.Flags()
	f.clusterCells.register(cmd, "measure")
	flags.Var(number[int]{&f.rounds, 1, 100}, "rounds", "how often each is measured")
	flags.Var(span{&f.length}, "length", "how long a cut or a pause lasts")
	f.registerFolder(cmd)
	registerTables(cmd)
	return cmd
}

// config returns the configuration according to the flags.
func (f *clusterTableFlags) config() (c clustered.TableConfig, err error) {
	c = clustered.TableConfig{Rounds: f.rounds, Folder: f.folder, Khepri: f.khepri, Length: f.length, Pause: usualPause}
	c.Designs, c.Modes, c.Faults, err = f.named()
	return c, err
}

func (f *clusterTableFlags) run(c *cobra.Command) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	cfg.Log = tell
	table, err := clustered.Table(c.Context(), cfg)
	if len(table.Cells) == 0 {
		return err
	}
	table.Command = commandLine()
	var ended error
	switch {
	case table.Wrong():
		ended = errViolated
	case table.Interrupted:
		ended = errInterrupted
	}
	return all(ended, err, report.WriteClusterTable(c.OutOrStdout(), table, outputStyle()),
		writeTables(c, func(w io.Writer) error { return report.WriteClusterMarkdown(w, table) }))
}
