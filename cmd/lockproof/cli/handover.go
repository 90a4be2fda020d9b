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

// sibling is a program that has all that this one has, and besides what takes long to compile.
type sibling struct{ name, does string }

var (
	campaignProgram = sibling{"lockproof-campaign", "campaigns are run by"}
	serversProgram  = sibling{"lockproof-servers", "real servers other than RabbitMQ are reached by"}
)

// source is the package that the program is built from.
func (p sibling) source() string { return "github.com/lockproof/lockproof/cmd/" + p.name }

// handOver has the program carry out the command line.
func (p sibling) handOver(c *cobra.Command, _ []string) error {
	path, err := p.there(c.Context())
	if err != nil {
		return err
	}
	return become(path)
}

// there is where the program is: beside this one, in PATH, or else built where there is Go.
func (p sibling) there(ctx context.Context) (string, error) {
	path, err := p.find()
	if err != nil {
		path, err = p.build(ctx)
	}
	return path, err
}

// find is where the program is, if it need not be built.
func (p sibling) find() (string, error) {
	name := p.name
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

// build builds the program: of the version that this one is, or of the module in whose directory we are.
func (p sibling) build(ctx context.Context) (string, error) {
	version := moduleVersion()
	target, kept := p.source()+"@"+version, version
	if version == "" {
		target, kept = p.source(), "devel"
	}
	missing := func(err error) error {
		return fmt.Errorf("%s %s, which is neither beside lockproof nor in PATH, and could not be built: %w; go install %s@latest installs it", p.does, p.name, err, p.source())
	}
	compiler, err := exec.LookPath("go")
	if err != nil {
		return "", missing(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", missing(err)
	}
	dir := filepath.Join(cache, "lockproof", kept)
	tell("building " + p.name + ", once, in " + dir)
	build := exec.CommandContext(ctx, compiler, "install", target)
	build.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := build.CombinedOutput(); err != nil {
		said := strings.TrimSpace(string(out))
		if said != "" {
			err = errors.New(said)
		}
		return "", missing(err)
	}
	return filepath.Join(dir, p.name), nil
}

// moduleVersion is the version as which this program was installed, "" where it was built from a directory.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}
