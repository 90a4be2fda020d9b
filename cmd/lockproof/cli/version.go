package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprintf(c.OutOrStdout(), "lockproof %s %s %s/%s\n", engine.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
