// Package clock gives programs that we start a clock of ours: servers by [New], clients by [NewClient]. They have a small library
// preloaded, which the system's C compiler builds, and read the time from a file that we write. Time stands still until we let it
// pass. Of a client it is known as well when it will do something by itself, and whether it is at rest until then.
//
// A program that does not read the time by the C library, such as one in Go, keeps the time of the machine.
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
	"sync"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
)

//go:embed preload/clock.c
var source []byte

// ErrNone is, somewhere in it, the error of [New] where programs cannot be given a clock.
var ErrNone = errors.New("a server of our own needs our clock: that takes Linux and a C compiler (such as Debian's package gcc)")

// Clock is the time of the programs that were started with its environment.
type Clock struct {
	library string
	file    *os.File
	now     int64 // nanoseconds since 1970
}

// Epoch is when every clock begins.
var Epoch = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// New makes a clock for a server, whose files are in a folder.
func New(ctx context.Context, folder string) (*Clock, error) {
	code, err := library(ctx)
	if err != nil {
		return nil, err
	}
	c := &Clock{library: filepath.Join(folder, "clock.so"), now: Epoch.UnixNano()}
	if err := os.WriteFile(c.library, code, 0o600); err != nil {
		return nil, err
	}
	if c.file, err = os.Create(filepath.Join(folder, "clock")); err != nil {
		return nil, err
	}
	return c, c.write()
}

// Environment is what a program is started with to have the clock. That of no clock is empty.
func (c *Clock) Environment() []string {
	if c == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "LOCKPROOF_CLOCK=" + c.file.Name()}
}

// Files are the clock's, which a program reads.
func (c *Clock) Files() []string { return []string{c.library, c.file.Name()} }

// Advance lets milliseconds pass.
func (c *Clock) Advance(ms int64) error {
	c.now += ms * int64(time.Millisecond)
	return c.write()
}

// write writes the time, in one go: the program sees the time before or the time after.
func (c *Clock) write() error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(c.now))
	_, err := c.file.WriteAt(b[:], 0)
	return err
}

// Close lets go of the file.
func (c *Clock) Close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// buildLimit is how long the compiler may take.
const buildLimit = time.Minute

// built is the library, once it was built.
var built struct {
	sync.Mutex
	code []byte
}

// library builds the library, the first time.
func library(ctx context.Context) (code []byte, err error) {
	built.Lock()
	defer built.Unlock()
	if built.code != nil {
		return built.code, nil
	}
	compiler, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		return nil, ErrNone
	}
	folder, err := leftover.NewFolder("clock")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	from, to := filepath.Join(folder.Path, "clock.c"), filepath.Join(folder.Path, "clock.so")
	if err := os.WriteFile(from, source, 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, compiler, "-shared", "-fPIC", "-O2", "-o", to, from, "-ldl").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w; %s said: %w: %s", ErrNone, compiler, err, out)
	}
	built.code, err = os.ReadFile(to)
	return built.code, err
}
