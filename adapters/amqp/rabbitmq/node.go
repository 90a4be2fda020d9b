//go:build unix

package rabbitmq

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
)

const (
	nodeStartLimit = 5 * time.Minute  // to start a node: 3 to 6 s when idle, over 90 s on a busy machine
	nodeStopLimit  = 60 * time.Second // to stop a node in good order: about 1 s
)

// node is a private RabbitMQ: an installed rabbitmq-server on its own loopback ports. All its files are in one
// temporary directory. It has its own epmd (Erlang's port mapper): the default epmd would serve the whole machine and
// outlive the node.
type node struct {
	Setting
	folder  *leftover.Folder
	janitor *Janitor
	epmd    *exec.Cmd
	server  *Server
}

// installed reports whether a node can be started.
func installed() bool {
	_, err := FindPrograms("")
	return err == nil
}

// StartNode starts a private RabbitMQ with the installed rabbitmq-server. It ignores the environment variables that
// name a broker. If no rabbitmq-server is installed, the error is [ErrNoBroker].
func StartNode(ctx context.Context, o Options) (_ *Broker, err error) {
	programs, err := FindPrograms("")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting a private RabbitMQ with %s: %w", programs.Place(), err)
		}
	}()
	o.logf("starting a private RabbitMQ with %s", programs.Place())

	n := &node{Setting: Setting{Programs: programs, Advanced: o.Advanced, Plugins: o.Plugins}}
	defer func() {
		if err != nil {
			_ = n.stop()
		}
	}()
	if err := n.prepare(ctx); err != nil {
		return nil, err
	}
	version, err := n.boot(ctx)
	if err != nil {
		return nil, err
	}
	return &Broker{URL: n.URL(), Version: version, Origin: "a private node of " + programs.Place(), own: n}, nil
}

// prepare creates what all starts of the node have in common, such as its directory. It starts the janitor first, which
// removes everything if this process is killed.
func (n *node) prepare(ctx context.Context) (err error) {
	if n.folder, err = leftover.NewFolder("node"); err != nil {
		return err
	}
	n.Dir = n.folder.Path
	if n.janitor, err = StartJanitor(n.Dir); err != nil {
		return err
	}
	if n.Console, err = os.Create(n.path("console.log")); err != nil {
		return err
	}
	first, err := FreePorts()
	if err != nil {
		return err
	}
	n.AMQP, n.Dist, n.Epmd = first, first+1, first+2
	n.Name = fmt.Sprintf("lockproof-%d@localhost", n.AMQP)
	if err := n.Configure(); err != nil {
		return err
	}
	return n.startEpmd(ctx)
}

// startEpmd starts the epmd of this node. It leads the process group that the janitor kills.
func (n *node) startEpmd(ctx context.Context) error {
	n.epmd = n.Command(n.Programs.Epmd)
	n.epmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.epmd.Start(); err != nil {
		return err
	}
	if err := n.janitor.Watch(n.epmd.Process.Pid); err != nil {
		return err
	}
	return awaitPort(ctx, n.Epmd)
}

// awaitPort waits until a program listens on a port.
func awaitPort(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", loopback(port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return fmt.Errorf("waiting for epmd: %w", err)
		}
	}
}

// boot starts the server and waits until it accepts connections.
func (n *node) boot(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, nodeStartLimit, fmt.Errorf("it was not ready after %s", nodeStartLimit))
	defer cancel()
	started, err := StartServer(n.Command(n.Programs.Server), n.epmd.Process.Pid)
	if err != nil {
		return "", err
	}
	n.server = started
	version, err = AwaitReady(ctx, n.URL(), n.server.Ended)
	if err != nil {
		return "", fmt.Errorf("%w; it said: %s", err, ServerLog(n.Printed()))
	}
	return version, nil
}

func (n *node) restart(ctx context.Context) error {
	if err := n.server.End(); err != nil {
		return err
	}
	_, err := n.boot(ctx)
	return err
}

// stop kills the node in any state, even if it has only half started, and removes its files.
func (n *node) stop() (err error) {
	if n.janitor != nil {
		err = n.janitor.End()
	}
	if n.epmd != nil && n.epmd.Process != nil {
		_ = syscall.Kill(-n.epmd.Process.Pid, syscall.SIGKILL) // in case the janitor has died before this process
		_ = n.epmd.Wait()                                      // last: once reaped, its group's number could be reused
	}
	if n.server != nil {
		<-n.server.Ended
	}
	if n.Console != nil {
		_ = n.Console.Close()
	}
	if n.folder != nil {
		err = n.folder.Remove()
	}
	return err
}
