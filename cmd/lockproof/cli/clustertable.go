package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/engine/clustered"
	"github.com/lockproof/lockproof/histories/report"
)

// clusterTableFlags are the flags of `cluster table`.
type clusterTableFlags struct {
	clusterFlags
	designs, modes, faults []string
	rounds                 int
	length                 time.Duration
	markdown               string
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
	flags.StringSliceVar(&f.designs, "design", nil, "the designs to measure, by `NAMES` with commas (default all)")
	flags.StringSliceVar(&f.modes, "mode", nil, "the `MODES` to measure under, with commas: ignore, pause_minority or autoheal (default all)")
	flags.StringSliceVar(&f.faults, "fault", nil, "the `FAULTS` to measure with, with commas: "+faultNames()+" (default all)")
	flags.Var(number[int]{&f.rounds, 1, 100}, "rounds", "how often each is measured")
	flags.Var(span{&f.length}, "length", "how long a cut or a pause lasts")
	f.registerFolder(cmd)
	flags.StringVar(&f.markdown, "markdown", "", "write the table as Markdown to a `FILE`")
	return cmd
}

// config is what the flags ask for.
func (f *clusterTableFlags) config() (c clustered.TableConfig, err error) {
	c = clustered.TableConfig{Designs: designs.All, Modes: cluster.Modes, Faults: cluster.Faults, Rounds: f.rounds, Folder: f.folder, Khepri: f.khepri, Length: f.length, Pause: usualPause}
	if len(f.designs) > 0 {
		c.Designs = nil
	}
	for _, name := range f.designs {
		d, err := designs.Named(name)
		if err != nil {
			return c, fmt.Errorf("--design %w", err)
		}
		c.Designs = append(c.Designs, d)
	}
	if len(f.modes) > 0 {
		c.Modes = nil
	}
	for _, name := range f.modes {
		mode, err := cluster.ModeNamed(name)
		if err != nil {
			return c, fmt.Errorf("--mode %w", err)
		}
		c.Modes = append(c.Modes, mode)
	}
	if len(f.faults) > 0 {
		c.Faults, err = faultsNamed(f.faults)
	}
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
		writeFile(c, "markdown", func(w io.Writer) error { return report.WriteClusterMarkdown(w, table) }))
}
