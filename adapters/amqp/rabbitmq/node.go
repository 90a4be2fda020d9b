//go:build unix

package rabbitmq

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/histories/leftover"
)

const (
	nodeStartLimit = 5 * time.Minute  // for a node to be ready; on an idle machine it takes 3 to 6 s, on a busy one 90 s were too few
	nodeStopLimit  = 20 * time.Second // for a node to end in good order; it takes about 1 s
)

// node is a private RabbitMQ: an installed rabbitmq-server on its own loopback ports. All its files are in one
// temporary directory. It has an epmd of its own (the process by which Erlang's nodes find one another), since the
// default one would serve the whole machine and stay.
type node struct {
	programs programs
	advanced string // its advanced.config; empty is none
	folder   *leftover.Folder
	dir      string // its path
	ports    ports
	console  *os.File // what the programs print
	janitor  *janitor
	epmd     *exec.Cmd
	server   *server
}

// ports are what a node listens on.
type ports struct{ amqp, dist, epmd int }

// StartNode starts a private RabbitMQ from the rabbitmq-server that is installed, whatever the
// environment says. Without one, the error is [ErrNoBroker].
func StartNode(ctx context.Context, o Options) (_ *Broker, err error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting a private RabbitMQ with %s: %w", programs.server, err)
		}
	}()
	o.logf("starting a private RabbitMQ with %s", programs.server)

	n := &node{programs: programs, advanced: o.Advanced}
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
	return &Broker{URL: n.url(), Version: version, Origin: "a private node of " + programs.server, own: n}, nil
}

// prepare makes what every start of the node shares: the janitor first, so that nothing after it
// can be left behind.
func (n *node) prepare(ctx context.Context) (err error) {
	if n.folder, err = leftover.NewFolder("node"); err != nil {
		return err
	}
	n.dir = n.folder.Path
	if n.janitor, err = startJanitor(n.dir); err != nil {
		return err
	}
	if n.console, err = os.Create(n.path("console.log")); err != nil {
		return err
	}
	first, err := freePorts()
	if err != nil {
		return err
	}
	n.ports = ports{amqp: first, dist: first + 1, epmd: first + 2}
	if err := n.configure(); err != nil {
		return err
	}
	return n.startEpmd(ctx)
}

// startEpmd starts the epmd that this node registers with. It leads the process group that the
// janitor ends.
func (n *node) startEpmd(ctx context.Context) error {
	n.epmd = n.command(n.programs.epmd)
	n.epmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.epmd.Start(); err != nil {
		return err
	}
	if err := n.janitor.watch(n.epmd.Process.Pid); err != nil {
		return err
	}
	return awaitPort(ctx, n.ports.epmd)
}

// awaitPort waits until something listens on a port.
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

// boot starts the server and waits until it takes connections.
func (n *node) boot(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, nodeStartLimit, fmt.Errorf("it was not ready after %s", nodeStartLimit))
	defer cancel()
	started, err := startServer(n.command(n.programs.server), n.epmd.Process.Pid)
	if err != nil {
		return "", err
	}
	n.server = started
	version, err = awaitReady(ctx, n.url(), n.server.ended)
	if err != nil {
		return "", fmt.Errorf("%w; it said: %s", err, serverLog(n.printed()))
	}
	return version, nil
}

// printed is what the node has said: on its console until it has read where its log is, and there from then on.
func (n *node) printed() string {
	all, _ := os.ReadFile(n.console.Name())
	logs, _ := filepath.Glob(n.path("log/*.log"))
	for _, name := range logs {
		logged, _ := os.ReadFile(name)
		all = append(all, logged...)
	}
	return string(all)
}

func (n *node) restart(ctx context.Context) error {
	if err := n.server.end(); err != nil {
		return err
	}
	_, err := n.boot(ctx)
	return err
}

// stop ends a node in any state, also a half-started one, without a graceful shutdown.
func (n *node) stop() (err error) {
	if n.janitor != nil {
		err = n.janitor.end()
	}
	if n.epmd != nil && n.epmd.Process != nil {
		_ = syscall.Kill(-n.epmd.Process.Pid, syscall.SIGKILL) // should the janitor have died before us
		_ = n.epmd.Wait()                                      // not earlier: reaped, its group's number could become another's
	}
	if n.server != nil {
		<-n.server.ended
	}
	if n.console != nil {
		_ = n.console.Close()
	}
	if n.folder != nil {
		err = n.folder.Remove()
	}
	return err
}

func (n *node) url() string {
	return fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/%%2F", n.ports.amqp)
}

func (n *node) path(name string) string { return filepath.Join(n.dir, name) }
