//go:build unix

package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/nemesis"
)

// startLimit is the maximum time for a node to accept clients. It takes some seconds on an idle machine, and more than
// a minute on a busy one.
const startLimit = 3 * time.Minute

// node is one node of a cluster. Its files are in its own folder.
type node struct {
	rabbitmq.Setting
	epmd  *epmd
	links []*nemesis.Link

	mu      sync.Mutex // held while a fault of this node is carried out
	server  *rabbitmq.Server
	version string

	asking sync.Mutex
	input  io.WriteCloser // standard input of the server's Erlang shell; nil while the node is down
	asked  int
}

// boot starts the node's server in a process group, and does not wait until it is ready.
func (n *node) boot(group int) (err error) {
	if n.Console != nil { // the file has answers of the previous server
		_ = n.Console.Close()
	}
	if n.Console, err = os.OpenFile(n.Dir+"/console.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	cmd := n.Command(n.Programs.Server)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	server, err := rabbitmq.StartServer(cmd, group)
	if err != nil {
		return err
	}
	n.server = server
	n.asking.Lock()
	defer n.asking.Unlock()
	n.input = input
	return nil
}

// await waits until the node accepts clients.
func (n *node) await(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it was not ready after %s", startLimit))
	defer cancel()
	if n.version, err = rabbitmq.AwaitReady(ctx, n.URL(), n.server.Ended); err != nil {
		return fmt.Errorf("%s: %w; it said: %s", n.Name, err, rabbitmq.ServerLog(n.Printed()))
	}
	return nil
}

// down waits until the server has ended, then closes its input.
func (n *node) down() {
	<-n.server.Ended
	n.asking.Lock()
	defer n.asking.Unlock()
	if n.input != nil {
		_ = n.input.Close()
	}
	n.input = nil
}

// isDown reports whether the server has ended.
func (n *node) isDown() bool {
	select {
	case <-n.server.Ended:
		return true
	default:
		return false
	}
}

// signal sends a signal to the server.
func (n *node) signal(s os.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isDown() {
		return errNoNode
	}
	return n.server.Signal(s)
}

// kill ends the server with SIGKILL, as a power cut would.
func (n *node) kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isDown() {
		return errNoNode
	}
	if err := n.server.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	n.down()
	return nil
}

// terminate shuts the server down in good order, as an administrator would.
func (n *node) terminate() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isDown() {
		return errNoNode
	}
	err := n.server.End()
	n.down()
	return err
}

// start starts the server again, with its data on disk, and waits until it accepts clients.
func (n *node) start(ctx context.Context, group int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.isDown() {
		return fmt.Errorf("%s runs", n.Name)
	}
	if err := n.boot(group); err != nil {
		return err
	}
	return n.await(ctx)
}

func (n *node) close() {
	if n.epmd != nil {
		n.epmd.close()
	}
	for _, l := range n.links {
		l.Close()
	}
	if n.Console != nil {
		_ = n.Console.Close()
	}
}
