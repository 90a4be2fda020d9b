package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/histories/leftover"
)

// ErrMissing is wrapped by the error of a server that is not installed.
var ErrMissing = errors.New("not installed")

// Process is a server process, before or after its start.
type Process struct {
	Port   int
	Folder string // folder with the server's files

	temporary *leftover.Folder
	user      string // user as whom the server runs if this process runs as root
	command   *exec.Cmd
	over      chan struct{} // closed when the process has ended
}

// Stock is an unmodified server that lockproof has started. It uses the machine's clock, and clients connect to it
// without a gate.
type Stock interface {
	// Port returns the server's port on this machine.
	Port() int
	// URL is the URL at which clients find the server on host.
	URL(host string) string
	// Close stops the server and removes its files.
	Close() error
}

// New prepares a server of the given kind: it has a folder and a port. If this process runs as root, the server runs
// as user. Otherwise, or if user is "", the server runs as the same user as this process.
func New(kind, user string) (_ *Process, err error) {
	p := &Process{user: user}
	if p.temporary, err = leftover.NewOpenFolder(kind); err != nil {
		return nil, err
	}
	p.Folder = filepath.Join(p.temporary.Path, "files")
	if err = os.Mkdir(p.Folder, 0o700); err == nil {
		err = p.Give(p.Folder)
	}
	if err == nil {
		p.Port, err = FreePort()
	}
	if err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

// Give makes the server's user the owner of files.
func (p *Process) Give(paths ...string) error {
	uid, gid, err := owner(p.user)
	if err != nil || uid < 0 {
		return err
	}
	for _, path := range paths {
		if err := os.Lchown(path, uid, gid); err != nil {
			return err
		}
	}
	return nil
}

// Clock makes a virtual clock for a server that is not started yet.
func (p *Process) Clock(ctx context.Context) (*clock.Clock, error) {
	c, err := clock.New(ctx, p.Folder)
	if err != nil {
		return nil, err
	}
	return c, p.Give(c.Files()...)
}

// prepare makes a command run in the server's folder, as its user.
func (p *Process) prepare(command *exec.Cmd) error {
	command.Dir = p.Folder
	return become(command, p.user)
}

// Run runs a program to its end, with input on its standard input.
func (p *Process) Run(ctx context.Context, input, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Stdin = bytes.NewBufferString(input)
	if err := p.prepare(command); err != nil {
		return err
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w; it said: %s", program, err, tail(out))
	}
	return nil
}

const (
	startLimit = 30 * time.Second // maximum time for a server to answer; on an idle machine it takes 0.1 s
	startPause = 2 * time.Millisecond
)

// Start starts the server with the additional environment env, and waits until answers returns no error.
func (p *Process) Start(ctx context.Context, answers func() error, env []string, program string, args ...string) error {
	if err := p.boot(env, program, args); err != nil {
		return err
	}
	limit := time.After(startLimit)
	for {
		err := answers()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(startPause):
			continue
		case <-p.over:
			err = errors.New("it has ended")
		case <-ctx.Done():
			err = ctx.Err()
		case <-limit:
		}
		return fmt.Errorf("starting %s: %w; it said: %s", program, err, p.said())
	}
}

// boot starts the server's process.
func (p *Process) boot(env []string, program string, args []string) error {
	log, err := os.Create(p.log())
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), env...)
	command.Stdout, command.Stderr = log, log
	if err := p.prepare(command); err != nil {
		return err
	}
	over, err := Launch(command)
	if err != nil {
		return err
	}
	p.command, p.over = command, over
	return nil
}

// Launch starts a program that ends when this process ends, however that happens, if the system supports that. over
// is closed when the program has ended. The system ends the program together with the thread that started it, so that
// thread waits for the program.
func Launch(command *exec.Cmd) (over chan struct{}, err error) {
	endsWithUs(command)
	started := make(chan error)
	over = make(chan struct{})
	go func() {
		runtime.LockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait() // the process state says how it has ended
		}
		close(over)
	}()
	return over, <-started
}

// log returns the path of the file with the server's output.
func (p *Process) log() string { return filepath.Join(p.temporary.Path, "log") }

// mostOfLog is the maximum number of bytes of a program's output in an error.
const mostOfLog = 2000

// said returns the last part of the server's output.
func (p *Process) said() string {
	f, err := os.Open(p.log())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > mostOfLog {
		_, _ = f.Seek(-mostOfLog, io.SeekEnd) // fails for a shorter log, which is read from its beginning
	}
	b, _ := io.ReadAll(io.LimitReader(f, mostOfLog))
	return string(b)
}

// tail returns the end of b, at most mostOfLog bytes.
func tail(b []byte) []byte { return b[max(0, len(b)-mostOfLog):] }

// End sends signal s to the server and waits until it has ended. After endLimit the server is killed.
func (p *Process) End(s os.Signal) {
	if p.command == nil {
		return
	}
	_ = p.command.Process.Signal(s) // an error means that the process has ended
	select {
	case <-p.over:
	case <-time.After(endLimit):
		_ = p.command.Process.Kill()
		<-p.over
	}
	p.command = nil
}

// endLimit is the maximum time for a server to end.
const endLimit = 10 * time.Second

// Remove ends the server at once and removes its files.
func (p *Process) Remove() error {
	p.End(os.Kill)
	return p.temporary.Remove()
}

// Servers get ports from lowestPort on. These ports are below those that systems give to outgoing connections, and
// below those that package rabbitmq uses.
const (
	lowestPort = 10000
	portsDealt = 10000
)

var portsTaken atomic.Int64

// Version returns the output of a program that prints its version.
func Version(program string, args ...string) (string, error) {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", program, err)
	}
	return string(out), nil
}

// FreePort returns a port of this machine on which nothing listens. The server opens it only later, so FreePort
// chooses ports by process number: two processes rarely choose the same one at the same moment.
func FreePort() (int, error) {
	for range 100 {
		port := lowestPort + (31*os.Getpid()+int(portsTaken.Add(1)))%portsDealt
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("finding a port on 127.0.0.1: none of a hundred from %d up is free", lowestPort)
}

// ID returns the number of the server's process.
func (p *Process) ID() int { return p.command.Process.Pid }
