package sentinel

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/adapters/redis/node"
	"github.com/lockproof/lockproof/model/history"
)

// signals are the signals that cause faults of processes.
var signals = map[history.F]syscall.Signal{
	history.KillNode: syscall.SIGKILL, history.TerminateNode: syscall.SIGTERM, history.PauseNode: syscall.SIGSTOP, history.ResumeNode: syscall.SIGCONT,
}

// endLimit is the maximum time for a process to shut down cleanly.
const endLimit = 20 * time.Second

// Befall carries out one step of the faults on the affected nodes. If the step starts nodes, Befall returns when they
// answer.
func (c *Cluster) Befall(ctx context.Context, s nemesis.Step) error {
	if c.network.Befall(s) {
		return nil
	}
	var errs []error
	for _, number := range s.Nodes.List() {
		if number > len(c.members) {
			return fmt.Errorf("%s: there are %d nodes", s, len(c.members))
		}
		for _, n := range c.members[number-1].both() {
			if err := befall(ctx, s.F, n); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", s, err))
			}
		}
	}
	return errors.Join(errs...)
}

// befall carries out one step of the faults on one process.
func befall(ctx context.Context, f history.F, n *node.Node) error {
	if f == history.StartNode {
		return n.Restart(ctx)
	}
	s, is := signals[f]
	if !is {
		return fmt.Errorf("%s is no fault of a node", f)
	}
	if err := n.Signal(s); err != nil || f != history.KillNode && f != history.TerminateNode {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, endLimit, fmt.Errorf("it has not ended after %s", endLimit))
	defer cancel()
	if err := n.Ended(ctx); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Mend restores all links, starts processes that have ended, and resumes those that are paused.
func (c *Cluster) Mend(ctx context.Context) error {
	var errs []error
	c.network.Heal()
	for _, m := range c.members {
		for _, n := range m.both() {
			if err := n.Signal(syscall.SIGCONT); err != nil { // an error means that the process has ended
				errs = append(errs, n.Restart(ctx))
			}
		}
	}
	return errors.Join(errs...)
}

// Ready waits until every Sentinel knows all nodes again.
func (c *Cluster) Ready(ctx context.Context) error { return c.form(ctx) }

// Abandon does nothing, since nothing is left of a private deployment's faults.
func (*Cluster) Abandon() error { return nil }
