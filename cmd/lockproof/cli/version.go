package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: `  lockproof version`,
		GroupID: "beside", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), "lockproof", version())
			return err
		},
	}
}

// version describes lockproof's version, its commit, the version of Go, and the platform.
func version() string {
	return fmt.Sprintf("%s%s %s %s/%s", engine.Version, builtFrom(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// builtFrom returns the commit from which the program was built, if the build recorded it.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", with changes"
		}
	}
	if commit == "" {
		return ""
	}
	return " (commit " + commit + changed + ")"
}
