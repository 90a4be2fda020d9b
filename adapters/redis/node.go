package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
)

// node is a redis-server of our own, on a port of its own, with its files in a temporary directory.
type node struct {
	program string
	folder  *leftover.Folder
	port    int
	args    []string
	command *exec.Cmd
	console bytes.Buffer
}

const (
	startLimit = 20 * time.Second // for a server to answer; on an idle machine it takes 10 ms
	startPause = 10 * time.Millisecond
)

// Start starts the redis-server that is installed, with args behind those that keep it to itself: on loopback, without
// a configuration file. Close ends it and removes its files. Without one, the error is [ErrNoServer].
func Start(ctx context.Context, args ...string) (_ *Server, err error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	n := &node{program: program, args: args}
	if n.folder, err = leftover.NewFolder("redis"); err != nil {
		return nil, err
	}
	if n.port, err = freePort(); err != nil {
		return nil, errors.Join(err, n.stop())
	}
	if err := n.boot(); err != nil {
		return nil, errors.Join(err, n.stop())
	}
	s, err := n.dial(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w; it said: %s", program, err, n.console.String()), n.stop())
	}
	return s, nil
}

func (n *node) boot() error {
	fixed := []string{"--port", strconv.Itoa(n.port), "--bind", "127.0.0.1", "--dir", n.folder.Path, "--daemonize", "no"}
	n.command = exec.Command(n.program, append(fixed, n.args...)...)
	n.command.Stdout, n.command.Stderr = &n.console, &n.console
	return n.command.Start()
}

// dial waits until the server answers.
func (n *node) dial(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		s, err := Dial(ctx, fmt.Sprintf("redis://127.0.0.1:%d/0", n.port))
		if err == nil {
			s.node = n
			return s, nil
		}
		select {
		case <-time.After(startPause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Restart kills a server that was started here, so that it loses its memory, and starts it again with its data on
// disk.
func (s *Server) Restart(ctx context.Context) error {
	if s.node == nil {
		return errors.New("restarting a Redis that was not started here")
	}
	s.node.kill()
	if err := s.node.boot(); err != nil {
		return err
	}
	again, err := s.node.dial(ctx)
	if err != nil {
		return err
	}
	was := s.client
	s.client = again.client
	return was.Close()
}

// kill ends the process at once.
func (n *node) kill() {
	if n.command != nil && n.command.Process != nil {
		_ = n.command.Process.Kill() // it may be over
		_ = n.command.Wait()         // it says that it was killed
	}
}

func (n *node) stop() error {
	n.kill()
	return n.folder.Remove()
}

// freePort is a port without a listener.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
