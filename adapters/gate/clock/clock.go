// Package clock gives a server that we start a clock of ours. The server has a small library preloaded, which the system's C
// compiler builds, and reads the time from a file that we write. Time stands still until [Clock.Advance].
package clock

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

//go:embed preload/clock.c
var source []byte

// ErrNone is, somewhere in it, the error of [New] where servers cannot be given a clock.
var ErrNone = errors.New("a server of our own needs our clock: that takes Linux and a C compiler (such as Debian's package gcc)")

// Clock is the time of the servers that were started with its environment.
type Clock struct {
	library string
	file    *os.File
	now     int64 // nanoseconds since 1970
}

// Epoch is when every clock begins.
var Epoch = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// buildLimit is how long the compiler may take.
const buildLimit = time.Minute

// New makes a clock, whose files are in a folder.
func New(ctx context.Context, folder string) (*Clock, error) {
	compiler, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		return nil, ErrNone
	}
	code := filepath.Join(folder, "clock.c")
	if err := os.WriteFile(code, source, 0o600); err != nil {
		return nil, err
	}
	c := &Clock{library: filepath.Join(folder, "clock.so"), now: Epoch.UnixNano()}
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, compiler, "-shared", "-fPIC", "-O2", "-o", c.library, code).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w; %s said: %w: %s", ErrNone, compiler, err, out)
	}
	if c.file, err = os.Create(filepath.Join(folder, "clock")); err != nil {
		return nil, err
	}
	return c, c.write()
}

// Environment is what a server is started with to have the clock.
func (c *Clock) Environment() []string {
	return []string{"LD_PRELOAD=" + c.library, "LOCKPROOF_CLOCK=" + c.file.Name()}
}

// Files are the clock's, which a server reads.
func (c *Clock) Files() []string { return []string{c.library, c.file.Name()} }

// Advance lets milliseconds pass.
func (c *Clock) Advance(ms int64) error {
	c.now += ms * int64(time.Millisecond)
	return c.write()
}

// write writes the time, in one go: the server sees the time before or the time after.
func (c *Clock) write() error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(c.now))
	_, err := c.file.WriteAt(b[:], 0)
	return err
}

// Close lets go of the file.
func (c *Clock) Close() error { return c.file.Close() }
