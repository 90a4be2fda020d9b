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

// askPause is the pause between two reads of a node's console output, while waiting for an answer.
const askPause = 50 * time.Millisecond

// tellLimit is the maximum time for a node to evaluate an expression that changes the cluster.
const tellLimit = time.Minute

// errNoNode says that a node cannot be asked because it is down.
var errNoNode = errors.New("the node is down")

// ask makes a node evaluate an Erlang expression, and returns the value in Erlang's notation. The node reads expressions
// from its standard input and prints values on its console, so that no other program is needed.
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

// answered is the value that follows mark in the node's console output. found is false until the line with mark is
// complete.
func (n *node) answered(mark string) (value string, found bool) {
	printed, err := os.ReadFile(n.Console.Name())
	if err != nil {
		return "", false
	}
	_, after, found := strings.Cut(string(printed), mark)
	value, _, whole := strings.Cut(after, "\n")
	return value, found && whole
}

// Erlang expressions for nodes to evaluate.
const (
	// running counts the nodes that a node believes to be running. The function's name differs between versions of
	// RabbitMQ.
	running = `case [F || F <- [list_running, all_running], lists:member({F, 0}, rabbit_nodes:module_info(exports))] of ` +
		`[F | _] -> length(rabbit_nodes:F()) end`
	// partitions counts the nodes from which a node knows that it is partitioned.
	partitions = `length(rabbit_node_monitor:partitions())`
	// khepri makes a cluster keep its metadata in Khepri from then on.
	khepri = `rabbit_feature_flags:enable(khepri_db)`
	// mirroring sets a policy that mirrors queues whose names have a suffix on all nodes.
	mirroring = `rabbit_policy:parse_set(<<"/">>, <<"lockproof">>, <<"%s$">>, ` +
		`<<"{\"ha-mode\":\"all\",\"ha-sync-mode\":\"automatic\"}">>, <<"0">>, <<"queues">>, <<"lockproof">>)`
)

// Mirrors reports whether the cluster's version has mirrored queues, as versions before 4 have.
func (c *Cluster) Mirrors() bool {
	number, _ := strings.CutPrefix(c.Version, "RabbitMQ ")
	major, err := strconv.Atoi(strings.SplitN(number, ".", 2)[0])
	return err == nil && major < 4
}

// Mirror makes classic queues whose names have a suffix mirrored on all nodes. It returns an error if the version has no
// mirrored queues.
func (c *Cluster) Mirror(ctx context.Context, suffix string) error {
	if err := c.tell(ctx, fmt.Sprintf(mirroring, strings.ReplaceAll(suffix, ".", "[.]"))); err != nil {
		return fmt.Errorf("setting a policy that mirrors queues: %w", err)
	}
	return nil
}

// tell makes the first node evaluate an expression whose value must be ok.
func (c *Cluster) tell(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	value, err := c.nodes[0].ask(ctx, expression)
	if err == nil && value != "ok" {
		err = fmt.Errorf("%s answers %s", c.nodes[0].Name, value)
	}
	return err
}
