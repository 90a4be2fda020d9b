//go:build unix

package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
)

const (
	formLimit = 5 * time.Minute        // maximum time to form: usually 8 to 24 s, on a very busy machine 70 s
	formPause = 200 * time.Millisecond // pause between two rounds of asking all nodes
	askLimit  = 10 * time.Second       // maximum time for a node's answer
)

// form waits until every node accepts clients, and until every node reports that all nodes run. If o.Khepri is set,
// form then enables Khepri.
func (c *Cluster) form(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, formLimit, fmt.Errorf("it had not formed after %s", formLimit))
	defer cancel()
	for _, n := range c.nodes {
		if err := n.await(ctx); err != nil {
			return err
		}
		o.logf("%s takes clients", n.Name)
	}
	c.Version = c.nodes[0].version
	if err := c.Whole(ctx); err != nil || !o.Khepri {
		return err
	}
	if err := c.tell(ctx, khepri); err != nil {
		return fmt.Errorf("having %s keep its records by Khepri: %w", c.Version, err)
	}
	c.Version += " with Khepri"
	return c.Whole(ctx)
}

// Whole waits until every node reports that all nodes run. The error has the last answer of a node that does not.
func (c *Cluster) Whole(ctx context.Context) error {
	for {
		alone, saw := c.apart(ctx)
		if alone == nil {
			return nil
		}
		select {
		case <-time.After(formPause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %s sees %s of %d nodes; it said: %s", context.Cause(ctx), alone.Name, saw, len(c.nodes), rabbitmq.ServerLog(alone.Printed()))
		}
	}
}

// apart returns a node that does not see all nodes of the cluster running, and the number of nodes that it sees, as
// text. If every node sees all, the node is nil.
func (c *Cluster) apart(ctx context.Context) (*node, string) {
	for _, n := range c.nodes {
		if saw := n.sees(ctx, running); saw != strconv.Itoa(len(c.nodes)) {
			return n, saw
		}
	}
	return nil, ""
}

// sees is the value of an Erlang expression on a node. If the node gives no value, sees returns the text "none" with
// the error, for example "none (the node is down)".
func (n *node) sees(ctx context.Context, expression string) string {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	value, err := n.ask(ctx, expression)
	if err != nil {
		return fmt.Sprintf("none (%v)", err)
	}
	return value
}

// Views describes how each node sees the cluster: the number of nodes that it believes to be running, and the number
// from which it is partitioned.
func (c *Cluster) Views(ctx context.Context) string {
	var all []string
	for i, n := range c.nodes {
		all = append(all, fmt.Sprintf("n%d sees %s running, %s partitioned", i+1, n.sees(ctx, running), n.sees(ctx, partitions)))
	}
	return strings.Join(all, "; ")
}
