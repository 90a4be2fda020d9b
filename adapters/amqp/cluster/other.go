//go:build !unix

package cluster

import (
	"context"
	"errors"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// Cluster is a private cluster, which is started on Unix systems only.
type Cluster struct {
	Version, Origin string
	Mode            Mode
}

var errNotUnix = errors.New("a cluster is started on Unix systems only")

// Start starts a cluster where it can; here it can't.
func Start(context.Context, Options) (*Cluster, error) { return nil, errNotUnix }

// Stop does nothing.
func (*Cluster) Stop() error { return nil }

// Abandon does nothing.
func (*Cluster) Abandon() error { return nil }

// Nodes is none.
func (*Cluster) Nodes() int { return 0 }

// URL is none.
func (*Cluster) URL(int) string { return "" }

// String is nothing.
func (*Cluster) String() string { return "" }

// Views is nothing.
func (*Cluster) Views(context.Context) string { return "" }

// Whole is an error.
func (*Cluster) Whole(context.Context) error { return errNotUnix }

// Befall is an error.
func (*Cluster) Befall(context.Context, nemesis.Step) error { return errNotUnix }

// Mend is an error.
func (*Cluster) Mend(context.Context) error { return errNotUnix }

// Ready is an error.
func (*Cluster) Ready(context.Context) error { return errNotUnix }

// Mirrors is false.
func (*Cluster) Mirrors() bool { return false }

// Mirror is an error.
func (*Cluster) Mirror(context.Context, string) error { return errNotUnix }
