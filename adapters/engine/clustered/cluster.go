package clustered

import (
	"context"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// Cluster is a cluster on which faults can be made to happen: a private one, [cluster.Cluster], or a user's, [cluster.Hooked].
type Cluster interface {
	// Nodes is how many nodes there are, which count from 1, and URL where clients find one.
	Nodes() int
	URL(number int) string
	// Befall has one step befall the cluster. Nodes that are started take clients when it returns.
	Befall(ctx context.Context, s nemesis.Step) error
	// Mend undoes all that has befallen it, and Ready waits until every node takes clients.
	Mend(ctx context.Context) error
	Ready(ctx context.Context) error
	// Abandon undoes at once what a run that ends early has left undone, where others need the cluster.
	Abandon() error
	// Mirror has queues be mirrored whose names end so, where there are mirrored queues.
	Mirror(ctx context.Context, suffix string) error
	// String is the cluster as reports have it.
	String() string
}
