package clustered

import (
	"context"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// Cluster is a cluster on which faults can be caused: one that lockproof started, [cluster.Cluster], or a user's,
// [cluster.Hooked].
type Cluster interface {
	// Nodes is the number of nodes. Nodes are numbered from 1. URL is the address of a node for clients.
	Nodes() int
	URL(number int) string
	// Befall carries out one step of the fault plan. If the step starts nodes, it returns when they accept clients.
	Befall(ctx context.Context, s nemesis.Step) error
	// Mend undoes all faults. Ready waits until every node accepts clients.
	Mend(ctx context.Context) error
	Ready(ctx context.Context) error
	// Abandon undoes at once the faults left by a run that ended early, because others may use the cluster.
	Abandon() error
	// Mirror makes the server mirror queues whose names end in suffix, if the server supports mirrored queues.
	Mirror(ctx context.Context, suffix string) error
	// String describes the cluster in reports.
	String() string
}
