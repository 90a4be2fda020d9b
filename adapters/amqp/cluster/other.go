//go:build !unix

package cluster

import (
	"context"
	"errors"

	"github.com/lockproof/lockproof/adapters/nemesis"
)

// Cluster is a private cluster. Only Unix systems can start one.
type Cluster struct {
	Version, Origin string
	Mode            Mode
}

var errNotUnix = errors.New("a cluster is started on Unix systems only")

// Start returns an error on this system.
func Start(context.Context, Options) (*Cluster, error) { return nil, errNotUnix }

// Stop does nothing.
func (*Cluster) Stop() error { return nil }

// Abandon does nothing.
func (*Cluster) Abandon() error { return nil }

// Nodes is 0, because this system has no private clusters.
func (*Cluster) Nodes() int { return 0 }

// URL is "", because this system has no private clusters.
func (*Cluster) URL(int) string { return "" }

// String is "", because this system has no private clusters.
func (*Cluster) String() string { return "" }

// Views is "", because this system has no private clusters.
func (*Cluster) Views(context.Context) string { return "" }

// Whole returns an error.
func (*Cluster) Whole(context.Context) error { return errNotUnix }

// Befall returns an error.
func (*Cluster) Befall(context.Context, nemesis.Step) error { return errNotUnix }

// Mend returns an error.
func (*Cluster) Mend(context.Context) error { return errNotUnix }

// Ready returns an error.
func (*Cluster) Ready(context.Context) error { return errNotUnix }

// Mirrors is false, because this system has no private clusters.
func (*Cluster) Mirrors() bool { return false }

// Mirror returns an error.
func (*Cluster) Mirror(context.Context, string) error { return errNotUnix }
