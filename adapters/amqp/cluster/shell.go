//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// askPause is how long is waited before a node's console is looked at again.
const askPause = 50 * time.Millisecond

// tellLimit is how long a node may take to do what it is told.
const tellLimit = time.Minute

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
	// khepri has a cluster keep its records by Khepri from now on.
	khepri = `rabbit_feature_flags:enable(khepri_db)`
	// mirroring sets a policy by which queues whose name has an ending are mirrored on all nodes.
	mirroring = `rabbit_policy:parse_set(<<"/">>, <<"lockproof">>, <<"%s$">>, ` +
		`<<"{\"ha-mode\":\"all\",\"ha-sync-mode\":\"automatic\"}">>, <<"0">>, <<"queues">>, <<"lockproof">>)`
)

// Mirrors reports whether the cluster's version has mirrored queues, as versions before 4 have.
func (c *Cluster) Mirrors() bool {
	number, _ := strings.CutPrefix(c.Version, "RabbitMQ ")
	major, err := strconv.Atoi(strings.SplitN(number, ".", 2)[0])
	return err == nil && major < 4
}

// Mirror has classic queues be mirrored on all nodes whose name ends so. It is an error where there are no mirrored queues.
func (c *Cluster) Mirror(ctx context.Context, suffix string) error {
	if err := c.tell(ctx, fmt.Sprintf(mirroring, strings.ReplaceAll(suffix, ".", "[.]"))); err != nil {
		return fmt.Errorf("setting a policy that mirrors queues: %w", err)
	}
	return nil
}

// tell has the first node evaluate an expression whose value is ok.
func (c *Cluster) tell(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	value, err := c.nodes[0].ask(ctx, expression)
	if err == nil && value != "ok" {
		err = fmt.Errorf("%s answers %s", c.nodes[0].Name, value)
	}
	return err
}
