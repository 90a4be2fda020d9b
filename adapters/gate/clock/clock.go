// Package clock gives virtual time to programs: to servers by [New], to clients by [NewClient]. The programs preload a small
// library, which the system's C compiler builds. The library reads the time from a file or memory that this package writes.
// Time stands still until the caller lets it pass. For a client, the package also knows whether it is at rest, and when it
// will next act by itself.
//
// A program that does not read the time through the C library, such as a Go program, keeps the machine's clock.
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

// ErrNone is wrapped by the error of [New] if programs cannot be given virtual time.
var ErrNone = errors.New("a server of our own needs our clock: that takes Linux and a C compiler (such as Debian's package gcc)")

// Clock is the virtual time of the programs that were started with its environment.
type Clock struct {
	library string
	file    *os.File
	now     int64 // in Unix nanoseconds
}

// Epoch is the time at which every clock begins.
var Epoch = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// New makes a clock for a server. The clock's files are in folder.
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

// Environment returns the environment variables with which a program uses the clock. For a nil clock it returns nil.
func (c *Clock) Environment() []string {
	if c == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "LOCKPROOF_CLOCK=" + c.file.Name()}
}

// Files returns the paths of the files that a program needs to use the clock.
func (c *Clock) Files() []string { return []string{c.library, c.file.Name()} }

// Advance lets ms milliseconds of virtual time pass.
func (c *Clock) Advance(ms int64) error {
	c.now += ms * int64(time.Millisecond)
	return c.write()
}

// write writes the time atomically: a program sees the old or the new time.
func (c *Clock) write() error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(c.now))
	_, err := c.file.WriteAt(b[:], 0)
	return err
}

// Close closes the clock's file.
func (c *Clock) Close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// buildLimit is the maximum duration of compiling the library.
const buildLimit = time.Minute

// built holds the compiled library, after the first call of library.
var built struct {
	sync.Mutex
	code []byte
}

// library returns the compiled library. The first call compiles it.
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
