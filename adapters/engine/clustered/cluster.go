package clustered

import (
	"context"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// Cluster is a cluster that supports faults: a private one, [cluster.Cluster], or a user's, [cluster.Hooked].
type Cluster interface {
	// Nodes is the number of nodes, which are numbered from 1. URL is where clients find a node.
	Nodes() int
	URL(number int) string
	// Befall carries out one step of the faults. When it returns, nodes that it starts accept clients.
	Befall(ctx context.Context, s nemesis.Step) error
	// Mend undoes all faults. Ready waits until every node accepts clients.
	Mend(ctx context.Context) error
	Ready(ctx context.Context) error
	// Abandon undoes at once the faults that a run which ends early has left, for the other users of the cluster.
	Abandon() error
	// Mirror makes queues mirrored whose names end in suffix, if the server has mirrored queues.
	Mirror(ctx context.Context, suffix string) error
	// String describes the cluster in reports.
	String() string
}
