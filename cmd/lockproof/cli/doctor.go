package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/engine/doctor"
	"github.com/lockproof/lockproof/histories/report"
)

// doctorFlags are the flags of `doctor`.
type doctorFlags struct {
	doctor.Config
	mode string
	json bool
}

func doctorCommand() *cobra.Command {
	f := new(doctorFlags)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "what of the table of clusters concerns a RabbitMQ that is there",
		Long: `Asks the nodes of a RabbitMQ what they are, and says what endangers a lock there now, and
for how long two clients held a lock of each usual design at once under each fault, as it was
measured on clusters. It changes nothing: it declares one queue, passively, and sends the
management interface nothing but GET.

No interface tells cluster_partition_handling: name it by --mode.

The exit code is 1 if something endangers a lock as the servers are now.`,
		Example: `  lockproof doctor --on amqp://guest:guest@127.0.0.1:5672 --mode pause_minority
  lockproof doctor --on amqp://n1,amqp://n2 --management http://n1:15672`,
		GroupID: "judge", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.URLs, "on", nil, "the amqp:// `ADDRESSES` of one node, or of several of a cluster, with commas")
	flags.StringVar(&f.Management, "management", "", "the `ADDRESS` of a node's management interface, such as http://127.0.0.1:15672; without a user in it, it is given the first of --on")
	flags.StringVar(&f.mode, "mode", "", "what nodes do when they are separated: the `MODE` ignore, pause_minority or autoheal (default the worst of them)")
	flags.BoolVar(&f.json, "json", false, "print what is found as JSON")
	return cmd
}

func (f *doctorFlags) run(c *cobra.Command) error {
	if len(f.URLs) == 0 {
		return errors.New("name a node: --on amqp://USER:PASSWORD@HOST:5672")
	}
	if f.mode != "" {
		mode, err := cluster.ModeNamed(f.mode)
		if err != nil {
			return fmt.Errorf("--mode %w", err)
		}
		f.Mode = mode
	}
	d, unasked := doctor.Examine(c.Context(), f.Config)
	if d == nil {
		return unasked
	}
	var ended error
	if len(d.Worries) > 0 {
		ended = errViolated
	}
	if f.json {
		return all(ended, unasked, report.WriteDiagnosisJSON(c.OutOrStdout(), d))
	}
	return all(ended, unasked, report.WriteDiagnosis(c.OutOrStdout(), d, outputStyle()))
}
