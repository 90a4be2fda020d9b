// Package clustertest starts private RabbitMQ clusters for tests. If RabbitMQ is not installed, the tests are
// skipped.
//
// With LOCKPROOF_REQUIRE_BROKER=1 in the environment, a test that would be skipped fails instead.
package clustertest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

const startLimit = 5 * time.Minute // for a cluster to form on a busy machine

// Need skips a test if no cluster can be started here.
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short starts no cluster")
	}
	if _, err := rabbitmq.FindPrograms(""); err != nil {
		missing(t, err)
	}
}

// missing skips a test or, if the environment requires RabbitMQ, fails it.
func missing(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, rabbitmq.ErrNoBroker) && os.Getenv(rabbitmqtest.EnvRequire) != "1" {
		t.Skip("skipped: there is no RabbitMQ to start a cluster with: ", err)
	}
	t.Fatal(err)
}

// Start starts a cluster, and stops it at the end of the test. That takes about fifteen seconds of processor time, so
// with -short the test is skipped.
func Start(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	Need(t)
	o.Log = func(line string) { t.Log(line) }
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	c, err := cluster.Start(ctx, o)
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}
