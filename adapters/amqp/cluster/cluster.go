//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/histories/leftover"
)

// Cluster is a RabbitMQ cluster that this process has started for itself. Its nodes are numbered from 1.
type Cluster struct {
	Version string // the server's name and version, such as "RabbitMQ 3.10.8"
	Origin  string // where the server's programs were found, for reports
	Mode    Mode

	folder  *leftover.Folder
	janitor *rabbitmq.Janitor
	leader  *exec.Cmd // leads the process group of all nodes
	hold    io.Closer // the leader's input; closing it ends the leader
	network *nemesis.Network
	nodes   []*node
	stopped sync.Once
	failed  error // the error that Stop returned
}

// Start starts a cluster and waits until all its nodes report that it has formed. The cluster lives until [Cluster.Stop], or
// until this process ends in any way; ctx bounds the start only.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	programs, err := rabbitmq.FindPrograms(o.Folder)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Mode: o.Mode, Origin: programs.Place(), network: nemesis.NewNetwork(o.Nodes)}
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting a cluster of %d nodes with %s: %w", o.Nodes, programs.Place(), err)
			_ = c.Stop()
		}
	}()
	o.logf("starting a cluster of %d nodes with %s", o.Nodes, programs.Place())
	if err := c.prepare(programs, o); err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		if err := n.boot(c.group()); err != nil {
			return nil, err
		}
	}
	return c, c.form(ctx, o)
}

// prepare creates the cluster's folder, its nodes and the links between them. It starts the janitor first, which
// removes everything if this process is killed.
func (c *Cluster) prepare(programs rabbitmq.Programs, o Options) (err error) {
	if c.folder, err = leftover.NewFolder("cluster"); err != nil {
		return err
	}
	if c.janitor, err = rabbitmq.StartJanitor(c.folder.Path); err != nil {
		return err
	}
	if err := c.lead(); err != nil {
		return err
	}
	for i := range o.Nodes {
		n := &node{Setting: rabbitmq.Setting{Programs: programs, Dir: filepath.Join(c.folder.Path, nodeName(i)), Shell: true}}
		c.nodes = append(c.nodes, n)
		first, err := rabbitmq.FreePorts()
		if err != nil {
			return err
		}
		n.AMQP, n.Dist, n.Name, n.Conf = first, first+1, nodeName(i)+"@localhost", o.config()
		n.Flags = []string{fmt.Sprintf("-kernel net_ticktime %d", o.Tick)}
		if err := os.Mkdir(n.Dir, 0o700); err != nil {
			return err
		}
	}
	cookie := strings.ReplaceAll(filepath.Base(c.folder.Path), "-", "")
	for i := range c.nodes {
		if err := c.connect(i, cookie); err != nil {
			return err
		}
	}
	return nil
}

// lead starts an idle process as the leader of the process group of all nodes. The janitor kills this group.
func (c *Cluster) lead() (err error) {
	c.leader = exec.Command("/bin/cat")
	c.leader.Dir = "/"
	c.leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.hold, err = c.leader.StdinPipe(); err != nil {
		return err
	}
	if err := c.leader.Start(); err != nil {
		return err
	}
	return c.janitor.Watch(c.leader.Process.Pid)
}

func (c *Cluster) group() int { return c.leader.Process.Pid }

// connect creates a node's links to the others, its epmd, and its files.
func (c *Cluster) connect(i int, cookie string) (err error) {
	n, peers := c.nodes[i], make(map[string]int)
	for j, other := range c.nodes {
		if j == i {
			continue
		}
		l, err := c.network.Listen(i, j, fmt.Sprintf("127.0.0.1:%d", other.Dist))
		if err != nil {
			return err
		}
		n.links = append(n.links, l)
		peers[nodeName(j)] = l.Port()
	}
	if n.epmd, err = serveEpmd(peers); err != nil {
		return err
	}
	n.Epmd = n.epmd.port()
	if err := os.WriteFile(filepath.Join(n.Dir, ".erlang.cookie"), []byte(cookie), 0o400); err != nil {
		return err
	}
	return n.Configure()
}

// Stop ends every node at once, and removes all files of the cluster. Further calls do nothing.
func (c *Cluster) Stop() error {
	c.stopped.Do(func() { c.failed = c.stop() })
	return c.failed
}

func (c *Cluster) stop() error {
	var errs []error
	if c.janitor != nil {
		errs = append(errs, c.janitor.End())
	}
	if c.leader != nil && c.leader.Process != nil {
		_ = syscall.Kill(-c.group(), syscall.SIGKILL) // in case the janitor has died before this process
		_ = c.hold.Close()
		_ = c.leader.Wait() // only after the kill: the group's number could be reused once the leader is reaped
	}
	c.network.Close()
	for _, n := range c.nodes {
		if n.server != nil {
			n.down()
		}
		n.close()
	}
	if c.folder != nil {
		errs = append(errs, c.folder.Remove())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the cluster in %s: %w", c.folder.Path, err)
	}
	return nil
}

// Abandon does nothing: a private cluster is deleted as a whole, so its faults need not be undone.
func (*Cluster) Abandon() error { return nil }

// Nodes is the number of nodes in the cluster.
func (c *Cluster) Nodes() int { return len(c.nodes) }

// URL is the AMQP address of a node; number counts from 1.
func (c *Cluster) URL(number int) string { return c.nodes[number-1].URL() }

// String describes the cluster in reports.
func (c *Cluster) String() string {
	return fmt.Sprintf("%s, a cluster of %d nodes with %s (started)", c.Version, len(c.nodes), c.Mode)
}
