//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/model/history"
)

// Befall carries out one step of a fault: it cuts or heals links, or kills, terminates, starts, pauses or resumes
// nodes. It returns when the nodes that it starts accept clients.
func (c *Cluster) Befall(ctx context.Context, s nemesis.Step) error {
	if c.network.Befall(s) {
		return nil
	}
	var errs []error
	for _, number := range s.Nodes.List() {
		if number > len(c.nodes) {
			return fmt.Errorf("%s: there are %d nodes", s, len(c.nodes))
		}
		if err := c.befallNode(ctx, s.F, c.nodes[number-1]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) befallNode(ctx context.Context, f history.F, n *node) error {
	switch f {
	case history.KillNode:
		return n.kill()
	case history.TerminateNode:
		return n.terminate()
	case history.StartNode:
		return n.start(ctx, c.group())
	case history.PauseNode:
		return n.signal(syscall.SIGSTOP)
	case history.ResumeNode:
		return n.signal(syscall.SIGCONT)
	}
	return fmt.Errorf("%s is no fault of a node", f)
}

// Mend ends every fault: all links are restored, paused nodes are resumed, and nodes that are down are started.
func (c *Cluster) Mend(ctx context.Context) error {
	errs := []error{c.Befall(ctx, nemesis.Step{F: history.Heal})}
	for _, n := range c.nodes {
		if err := n.signal(syscall.SIGCONT); errors.Is(err, errNoNode) {
			errs = append(errs, n.start(ctx, c.group()))
		}
	}
	return errors.Join(errs...)
}

// Ready waits until every node accepts clients. A node that restarts, or has paused itself in a minority, does not
// accept them.
func (c *Cluster) Ready(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := n.await(ctx); err != nil {
			return err
		}
	}
	return nil
}
