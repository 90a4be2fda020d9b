package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/histories/leftover"
	"github.com/lockproof/lockproof/histories/outfile"
)

// sibling is another program of lockproof. It contains this program and packages that take long to compile. does says
// what it is for.
type sibling struct{ name, does string }

var (
	campaignProgram = sibling{"lockproof-campaign", "campaigns are run by"}
	serversProgram  = sibling{"lockproof-servers", "containers are started, and databases reached, by"}
)

// source is the path of the package from which the program is built.
func (p sibling) source() string { return "github.com/lockproof/lockproof/cmd/" + p.name }

// handOver runs the program with this process's command line. It returns only if that failed.
func (p sibling) handOver(c *cobra.Command, _ []string) error {
	path, err := p.there(c.Context())
	if err != nil {
		return err
	}
	if err := c.Context().Err(); err != nil {
		return err
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // from here on a signal ends this process at once
	time.Sleep(2 * time.Millisecond)                            // gives a signal that just came time to end the context
	if err := c.Context().Err(); err != nil {
		return err
	}
	return become(path)
}

// there returns the path of the program. The program may be beside this one or in PATH; otherwise it is built if Go is
// installed.
func (p sibling) there(ctx context.Context) (string, error) {
	path, err := p.find()
	if err != nil {
		path, err = p.build(ctx)
	}
	return path, err
}

// find returns the path of the program if it exists beside this one or in PATH.
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

// build builds the program in the version of this one, or from the clone from which this one was built.
func (p sibling) build(ctx context.Context) (string, error) {
	version := moduleVersion()
	target, kept := p.source()+"@"+version, version
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
	clone := ""
	if version == "" {
		if clone, err = cloneHere(); err != nil {
			return "", missing(err)
		}
		target, kept = p.source(), "devel"
	}
	dir := filepath.Join(cache, "lockproof", kept)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", missing(err)
	}
	temp, err := leftover.NewFolder("build")
	if err != nil {
		return "", missing(err)
	}
	defer func() { _ = temp.Remove() }() // if it fails, the next run removes the folder
	build := exec.CommandContext(ctx, compiler, "install", target)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOTMPDIR="+temp.Path)
	if build.Dir = dir; clone != "" {
		build.Dir = clone
		tell("building " + p.name + " from the clone " + clone + ", in " + dir)
	} else {
		tell("building " + p.name + " " + version + ", once, in " + dir)
	}
	if out, err := build.CombinedOutput(); err != nil {
		said := strings.TrimSpace(string(out))
		if said != "" {
			err = errors.New(said)
		}
		return "", missing(err)
	}
	return filepath.Join(dir, p.name), nil
}

// moduleVersion returns the version at which this program was installed; "" if it was built from a folder.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != "github.com/lockproof/lockproof" || info.Main.Version == "(devel)" || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}

// sourceFile is the path of this file at compile time; "" if unknown.
var sourceFile = func() string {
	_, file, _, _ := runtime.Caller(0)
	return file
}()

// cloneHere returns the folder of the clone from which this program was built. It returns an error if the current
// folder is not inside that clone. Sources elsewhere are never built, because any go.mod may claim this module's name.
func cloneHere() (string, error) {
	const next = "this program has no version, and the current folder is not in the clone that it was built from"
	if !filepath.IsAbs(sourceFile) { // the program was built with -trimpath
		return "", errors.New("this program has no version, and does not say which clone it was built from")
	}
	clone, err := filepath.EvalSymlinks(filepath.Join(filepath.Dir(sourceFile), "..", "..", ".."))
	if err != nil {
		return "", errors.New(next)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	inside, err := outfile.Inside(clone, here)
	if err != nil || !inside {
		return "", errors.New(next)
	}
	return clone, nil
}
