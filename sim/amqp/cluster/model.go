package cluster

import (
	"fmt"

	"github.com/lockproof/lockproof/model/history"
)

// Design is a kind of lock: the way in which a client takes and holds it.
type Design struct {
	Name string
	kind kind
	// consumes says that a holder which loses its consumer is told so by basic.cancel.
	consumes bool
}

// kind is the kind of the lock's queue.
type kind uint8

const (
	exclusive kind = iota // an exclusive queue, on its holder's node
	classic               // a message or a consumer of a classic queue
	quorum                // a message of a quorum queue
	mirrored              // a message of a mirrored classic queue
)

// Designs are the kinds of locks that can be modelled. They have the names of those in adapters/amqp/cluster/designs.
var Designs = []Design{
	{Name: "exclusive-queue"},
	{Name: "exclusive-queue-unasked"},
	{Name: "classic-token", kind: classic},
	{Name: "classic-token-consumer", kind: classic, consumes: true},
	{Name: "quorum-token", kind: quorum},
	{Name: "quorum-token-consumer", kind: quorum},
	{Name: "exclusive-consumer", kind: classic, consumes: true},
	{Name: "single-active-consumer", kind: classic, consumes: true},
	{Name: "quorum-single-active", kind: quorum},
	{Name: "mirrored-token", kind: mirrored},
}

// DesignNamed returns the design with the given name, or an error.
func DesignNamed(name string) (Design, error) {
	for _, d := range Designs {
		if d.Name == name {
			return d, nil
		}
	}
	return Design{}, fmt.Errorf("%q: expected a design of lockproof cluster prove", name)
}

// Mode is RabbitMQ's option cluster_partition_handling: what nodes do that lose contact with others.
type Mode uint8

// The modes, named like the values of cluster_partition_handling.
const (
	Ignore Mode = iota
	PauseMinority
	Autoheal
)

// Fault is one fault of nodes, with the same fields as in histories.
type Fault struct {
	F     history.F
	Nodes history.Nodes // nodes that the fault concerns
	To    history.Nodes // only of a cut: nodes that messages of Nodes no longer reach
}

// MostModelled is the largest number of nodes that a model can have.
const MostModelled = 5

// Model has the parameters of an exploration: a cluster with two clients of one lock, and the faults of its nodes in
// order.
type Model struct {
	Design Design
	Mode   Mode
	// Khepri says that nodes store their records in Khepri instead of Mnesia. Khepri is optional in RabbitMQ 4.0 and
	// 4.1. Mode is then ignored.
	Khepri bool
	Nodes  int
	// A and B are the numbers, from 1, of the nodes to which the clients are connected. A's client holds the lock at
	// the beginning, and B's client tries to get it. Queue is the number of the node with the lock's queue.
	A, B, Queue int
	Faults      []Fault
}

// check returns an error that says what is wrong with the model, or nil.
func (m *Model) check() error {
	if m.Nodes < 2 || m.Nodes > MostModelled {
		return fmt.Errorf("%d nodes: expected 2 to %d", m.Nodes, MostModelled)
	}
	places := []int{m.A, m.B}
	if m.Design.kind != exclusive {
		places = append(places, m.Queue)
	}
	for _, n := range places {
		if n < 1 || n > m.Nodes {
			return fmt.Errorf("node %d: there are %d", n, m.Nodes)
		}
	}
	if m.Khepri && m.Design.kind == mirrored {
		return fmt.Errorf("%s: RabbitMQ with Khepri has no mirrored queues", m.Design.Name)
	}
	return nil
}
