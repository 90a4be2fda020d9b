package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// campaignProgram is the program that runs campaigns, and campaignPackage what it is built from.
const (
	campaignProgram = "lockproof-campaign"
	campaignPackage = "github.com/lockproof/lockproof/cmd/" + campaignProgram
)

// handOver has the program that runs campaigns carry out the command line. It is beside this one, in PATH, or else built
// where there is Go.
func handOver(c *cobra.Command, _ []string) error {
	path, err := findProgram()
	if err != nil {
		path, err = buildProgram(c.Context())
	}
	if err != nil {
		return err
	}
	return become(path)
}

// findProgram is where the program is that runs campaigns.
func findProgram() (string, error) {
	name := campaignProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	return exec.LookPath(name)
}

// buildProgram builds the program that runs campaigns: of the version that this one is, or of the module in whose
// directory we are.
func buildProgram(ctx context.Context) (string, error) {
	version := moduleVersion()
	target, kept := campaignPackage+"@"+version, version
	if version == "" {
		target, kept = campaignPackage, "devel"
	}
	missing := func(err error) error {
		return fmt.Errorf("campaigns are run by %s, which is neither beside lockproof nor in PATH, and could not be built: %w; go install %s@latest installs it", campaignProgram, err, campaignPackage)
	}
	program, err := exec.LookPath("go")
	if err != nil {
		return "", missing(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", missing(err)
	}
	dir := filepath.Join(cache, "lockproof", kept)
	tell("building " + campaignProgram + ", once, in " + dir)
	build := exec.CommandContext(ctx, program, "install", target)
	build.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := build.CombinedOutput(); err != nil {
		said := strings.TrimSpace(string(out))
		if said != "" {
			err = errors.New(said)
		}
		return "", missing(err)
	}
	return filepath.Join(dir, campaignProgram), nil
}

// moduleVersion is the version as which this program was installed, "" where it was built from a directory.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}
