// Package node starts redis-servers. Each has its own port, and its files in a temporary folder.
package node

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/histories/leftover"
)

// ErrNoProgram is wrapped by the error of [Start] if no server is installed.
var ErrNoProgram = errors.New("no redis-server is installed (Debian's package redis-server has it)")

// Node is a redis-server that lockproof started.
type Node struct {
	Port int

	program string
	folder  *leftover.Folder
	first   []string // the first arguments: Redis requires a configuration file to come first
	args    []string
	env     []string
	command *exec.Cmd
	over    chan struct{} // closed when the process has ended
	console bytes.Buffer
}

const (
	startLimit = 20 * time.Second // maximum time for a server to answer; on an idle machine it takes 10 ms
	startPause = 5 * time.Millisecond
)

// New prepares a server: it creates its folder and chooses its port. args are arguments for redis-server. Start
// starts the server; Stop stops it and removes its files.
func New(args ...string) (_ *Node, err error) {
	n := &Node{args: args}
	if n.program, err = exec.LookPath("redis-server"); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoProgram, err)
	}
	if n.folder, err = leftover.NewFolder("redis"); err != nil {
		return nil, err
	}
	if n.Port, err = process.FreePort(); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return n, nil
}

// Version returns the version of the installed redis-server, such as 7.0.15.
func Version() (string, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoProgram, err)
	}
	out, err := process.Version(program, "--version")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(out, " v=")
	version, _, _ := strings.Cut(rest, " ")
	return version, nil
}

// With adds arguments for redis-server. It must be called before Start.
func (n *Node) With(args ...string) { n.args = append(n.args, args...) }

// Configure makes redis-server read a configuration file. first are the arguments that must come before all others.
// It must be called before Start.
func (n *Node) Configure(first ...string) { n.first = first }

// Folder returns the folder with the server's files.
func (n *Node) Folder() string { return n.folder.Path }

// URL returns the URL at which clients find the server.
func (n *Node) URL() string { return fmt.Sprintf("redis://127.0.0.1:%d/0", n.Port) }

// Start starts the server, with the additional environment env, and waits until it answers. The server listens on loopback
// only, and reads no configuration file unless Configure was called.
func (n *Node) Start(ctx context.Context, env ...string) error {
	n.env = env
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := n.boot(); err != nil {
		return err
	}
	for {
		err := n.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(startPause):
		case <-n.over:
			return fmt.Errorf("starting %s: it has ended; it said: %s", n.program, n.console.String())
		case <-ctx.Done():
			return fmt.Errorf("starting %s: %w; it said: %s", n.program, err, n.console.String())
		}
	}
}

// Restart starts the server again. If it is running, Restart kills it first.
func (n *Node) Restart(ctx context.Context) error {
	n.kill()
	return n.Start(ctx, n.env...)
}

// boot starts the server's process.
func (n *Node) boot() (err error) {
	fixed := []string{"--port", strconv.Itoa(n.Port), "--bind", "127.0.0.1", "--dir", n.folder.Path, "--daemonize", "no"}
	n.console.Reset()
	n.command = exec.Command(n.program, slices.Concat(n.first, fixed, n.args)...)
	n.command.Env = append(os.Environ(), n.env...)
	n.command.Stdout, n.command.Stderr = &n.console, &n.console
	n.over, err = process.Launch(n.command)
	return err
}

// ping returns an error unless the server answers PING.
func (n *Node) ping(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(n.Port))
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "+PONG") {
		err = errors.New(strings.TrimSpace(line))
	}
	return err
}

// kill kills the process, and waits until it has ended.
func (n *Node) kill() {
	if n.command != nil && n.command.Process != nil {
		_ = n.command.Process.Kill() // an error means that the process has ended
		<-n.over
	}
}

// Signal sends a signal to the server's process.
func (n *Node) Signal(s os.Signal) error { return n.command.Process.Signal(s) }

// Ended waits until the process ends by itself.
func (n *Node) Ended(ctx context.Context) error {
	select {
	case <-n.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop stops the server and removes its files.
func (n *Node) Stop() error {
	n.kill()
	return n.folder.Remove()
}
