package sentinel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/adapters/redis/node"
)

// Master is the name by which the Sentinels know the deployment.
const Master = "lockproof"

// Limits and times of a deployment. Sentinels need a majority to promote a replica.
const (
	Fewest = 3
	Most   = 7
)

const (
	formLimit   = 2 * time.Minute // maximum time until the Sentinels know all servers and each other
	formPause   = 200 * time.Millisecond
	downAfter   = 3 * time.Second  // silence after which a Sentinel considers a server down
	failoverFor = 10 * time.Second // time after which the Sentinels may try another promotion
	askLimit    = 5 * time.Second
)

// Cluster is a private deployment. Its nodes are numbered from 1.
type Cluster struct {
	version string
	network *nemesis.Network
	members []*member
}

// member is one node: a server and a Sentinel, and the links through which they are reached. It opens connections from its
// own address, by which links identify it.
type member struct {
	from             string
	server, sentinel *node.Node
	toServer, toSent *nemesis.Link
}

// both returns the server and the Sentinel of the node.
func (m *member) both() []*node.Node { return []*node.Node{m.server, m.sentinel} }

// Start starts a deployment with the given number of nodes, and waits until its Sentinels know all of them. It runs
// until [Cluster.Stop] is called or this process ends. log is called with a text for each action; it may be nil.
func Start(ctx context.Context, nodes int, log func(string)) (_ *Cluster, err error) {
	if nodes < Fewest || nodes > Most {
		return nil, fmt.Errorf("%d nodes: expected %d to %d", nodes, Fewest, Most)
	}
	if log == nil {
		log = func(string) {}
	}
	c := &Cluster{network: nemesis.NewNetwork(nodes)}
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting Redis on %d nodes: %w", nodes, errors.Join(err, c.Stop()))
		}
	}()
	if c.version, err = node.Version(); err != nil {
		return nil, err
	}
	log(fmt.Sprintf("starting Redis %s and Sentinels on %d nodes", c.version, nodes))
	for range nodes {
		if err := c.add(ctx, nodes/2+1); err != nil {
			return nil, err
		}
	}
	return c, c.form(ctx)
}

// add starts one more node. The first node's server is the master.
func (c *Cluster) add(ctx context.Context, quorum int) (err error) {
	number := len(c.members)
	m := &member{from: fmt.Sprintf("%s%d", sources, number+1)}
	c.members = append(c.members, m)
	if m.server, m.toServer, err = c.prepare(number); err != nil {
		return err
	}
	m.server.With("--save", "", "--appendonly", "yes", // data survives a crash of the process
		"--bind-source-addr", m.from, "--replica-announce-ip", loopback, "--replica-announce-port", strconv.Itoa(m.toServer.Port()), "--repl-diskless-sync-delay", "0")
	if number > 0 {
		m.server.With("--replicaof", loopback, strconv.Itoa(c.members[0].toServer.Port()))
	}
	if err := m.server.Start(ctx); err != nil {
		return err
	}
	if m.sentinel, m.toSent, err = c.prepare(number); err != nil {
		return err
	}
	conf := fmt.Sprintf("bind-source-addr %s\nsentinel announce-ip %s\nsentinel announce-port %d\n", m.from, loopback, m.toSent.Port()) +
		fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]d %[4]d\nsentinel down-after-milliseconds %[1]s %[5]d\nsentinel failover-timeout %[1]s %[6]d\n",
			Master, loopback, c.members[0].toServer.Port(), quorum, downAfter.Milliseconds(), failoverFor.Milliseconds())
	path := filepath.Join(m.sentinel.Folder(), "sentinel.conf") // a file, because Sentinels write to it
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		return err
	}
	m.sentinel.Configure(path, "--sentinel")
	return m.sentinel.Start(ctx)
}

// Addresses of this machine: the one at which all processes listen, and the prefix of the nodes' source addresses.
const (
	loopback = "127.0.0.1"
	sources  = "127.0.9."
)

// prepare creates a process of a node, and the link through which others reach it.
func (c *Cluster) prepare(number int) (n *node.Node, l *nemesis.Link, err error) {
	if n, err = node.New(); err != nil {
		return nil, nil, err
	}
	l, err = c.network.ListenFor(c.source, number, address(n))
	return n, l, err
}

// source returns the number of the node with the given source address.
func (c *Cluster) source(from net.Addr) int {
	for i := range c.network.Nodes() {
		if host, _, err := net.SplitHostPort(from.String()); err == nil && host == fmt.Sprintf("%s%d", sources, i+1) {
			return i
		}
	}
	return nemesis.Outside
}

// form waits until every Sentinel knows all servers and all other Sentinels.
func (c *Cluster) form(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, formLimit)
	defer cancel()
	for number, m := range c.members {
		for {
			knows, err := m.knows(ctx, len(c.members))
			if err == nil && knows {
				break
			}
			select {
			case <-time.After(formPause):
			case <-ctx.Done():
				return fmt.Errorf("the Sentinel of n%d does not know the others after %s (%w)", number+1, formLimit, errors.Join(err, ctx.Err()))
			}
		}
	}
	return nil
}

// knows reports whether the node's Sentinel knows all nodes, and considers none of them down.
func (m *member) knows(ctx context.Context, nodes int) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	conn, err := connect(ctx, new(net.Dialer), address(m.sentinel))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	v, err := conn.Do("SENTINEL", "MASTER", Master)
	said := make(map[string]string)
	for i := 0; i+1 < len(v.Items); i += 2 {
		said[string(v.Items[i].Text)] = string(v.Items[i+1].Text)
	}
	return said["num-slaves"] == strconv.Itoa(nodes-1) && said["num-other-sentinels"] == strconv.Itoa(nodes-1) && said["flags"] == "master", err
}

func address(n *node.Node) string { return net.JoinHostPort(loopback, strconv.Itoa(n.Port)) }

// Stop stops all processes and removes their files.
func (c *Cluster) Stop() error {
	var errs []error
	for _, m := range c.members {
		for _, n := range m.both() {
			if n != nil {
				errs = append(errs, n.Stop())
			}
		}
	}
	c.network.Close()
	for _, m := range c.members {
		for _, l := range []*nemesis.Link{m.toServer, m.toSent} {
			if l != nil {
				l.Close()
			}
		}
	}
	return errors.Join(errs...)
}

// Nodes returns the number of nodes.
func (c *Cluster) Nodes() int { return len(c.members) }

// URL returns the URL at which clients at a node find the Sentinels, the node's own first:
// redis+sentinel://HOST:PORT,…/lockproof?from=ADDRESS. A client that connects from ADDRESS is cut off together with
// its node.
func (c *Cluster) URL(number int) string {
	var all []string
	for i := range c.members {
		all = append(all, fmt.Sprintf("%s:%d", loopback, c.members[(number-1+i)%len(c.members)].toSent.Port()))
	}
	return "redis+sentinel://" + strings.Join(all, ",") + "/" + Master + "?from=" + c.members[number-1].from
}

// String returns a description of the deployment for reports.
func (c *Cluster) String() string {
	return fmt.Sprintf("Redis %s, %d nodes with a Sentinel each (started)", c.version, len(c.members))
}

// Mirror returns an error, since Redis has no mirrored queues.
func (*Cluster) Mirror(context.Context, string) error {
	return errors.New("there are no mirrored queues on Redis")
}
