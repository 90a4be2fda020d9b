//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// askPause is how long is waited before a node's console is looked at again.
const askPause = 50 * time.Millisecond

// errNoNode is the error of asking a node that is down.
var errNoNode = errors.New("the node is down")

// ask has a node evaluate an Erlang expression, and returns the value as Erlang writes it. The node reads expressions from
// its standard input and prints values on its console: no other program is started for it.
func (n *node) ask(ctx context.Context, expression string) (string, error) {
	n.asking.Lock()
	defer n.asking.Unlock()
	if n.input == nil {
		return "", errNoNode
	}
	n.asked++
	mark := fmt.Sprintf("lockproof %d ", n.asked)
	if _, err := fmt.Fprintf(n.input, "io:format(\"~ts ~w ~0p~n\", [lockproof, %d, catch (%s)]).\n", n.asked, expression); err != nil {
		return "", fmt.Errorf("%w: %w", errNoNode, err)
	}
	server := n.server
	for {
		if value, found := n.answered(mark); found {
			return value, nil
		}
		select {
		case <-time.After(askPause):
		case <-server.Ended:
			return "", errNoNode
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// answered finds the value that a node has printed behind a mark.
func (n *node) answered(mark string) (value string, found bool) {
	printed, err := os.ReadFile(n.Console.Name())
	if err != nil {
		return "", false
	}
	_, after, found := strings.Cut(string(printed), mark)
	value, _, whole := strings.Cut(after, "\n")
	return value, found && whole
}

// Expressions that nodes are asked for.
const (
	// running is how many nodes of its cluster a node takes for running. The name of the function differs between versions.
	running = `case [F || F <- [list_running, all_running], lists:member({F, 0}, rabbit_nodes:module_info(exports))] of ` +
		`[F | _] -> length(rabbit_nodes:F()) end`
	// partitions counts the nodes from which a node knows to be partitioned.
	partitions = `length(rabbit_node_monitor:partitions())`
	// mirroring sets a policy by which queues whose name has an ending are mirrored on all nodes.
	mirroring = `rabbit_policy:parse_set(<<"/">>, <<"lockproof">>, <<"%s$">>, ` +
		`<<"{\"ha-mode\":\"all\",\"ha-sync-mode\":\"automatic\"}">>, <<"0">>, <<"queues">>, <<"lockproof">>)`
)

// Mirror has classic queues be mirrored on all nodes whose name ends so. RabbitMQ 4 has no mirrored queues, which is an error.
func (c *Cluster) Mirror(ctx context.Context, suffix string) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	value, err := c.nodes[0].ask(ctx, fmt.Sprintf(mirroring, strings.ReplaceAll(suffix, ".", "[.]")))
	if err == nil && value != "ok" {
		err = fmt.Errorf("%s answers %s", c.nodes[0].Name, value)
	}
	if err != nil {
		return fmt.Errorf("setting a policy that mirrors queues: %w", err)
	}
	return nil
}
