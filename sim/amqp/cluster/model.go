package cluster

import (
	"fmt"

	"github.com/lockproof/lockproof/model/history"
)

// Design is the way in which clients hold the lock.
type Design struct {
	Name string
	kind kind
	// consumes says that the holder is told by basic.cancel when it loses its consumer.
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

// Designs are the designs of adapters/amqp/cluster/designs, with the same names.
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

// DesignNamed is the design with that name.
func DesignNamed(name string) (Design, error) {
	for _, d := range Designs {
		if d.Name == name {
			return d, nil
		}
	}
	return Design{}, fmt.Errorf("%q: expected a design of lockproof cluster prove", name)
}

// Mode is what nodes do that are separated from others: RabbitMQ's cluster_partition_handling.
type Mode uint8

// The modes.
const (
	Ignore Mode = iota
	PauseMinority
	Autoheal
)

// Fault is one fault of nodes, as in histories.
type Fault struct {
	F     history.F
	Nodes history.Nodes // the nodes concerned
	To    history.Nodes // of a cut: the nodes that they can no longer reach
}

// MostModelled is the largest number of nodes of a model.
const MostModelled = 5

// Model is a cluster with two clients of a lock, and the faults of its nodes in order.
type Model struct {
	Design Design
	Mode   Mode
	// Khepri says that nodes keep their records in Khepri, which is optional in RabbitMQ 4.0 and 4.1. There is no
	// mode then.
	Khepri bool
	Nodes  int
	// A and B are the nodes of the clients, from 1: A's client holds the lock first, and B's client tries to get it.
	// Queue is the node of the lock's queue.
	A, B, Queue int
	Faults      []Fault
}

// check reports what is wrong with a model.
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
