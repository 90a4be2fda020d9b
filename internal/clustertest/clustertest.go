// Package clustertest gives tests a private RabbitMQ cluster, and skips them where there is no RabbitMQ to start one with.
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

// Need skips a test where there is nothing to start a cluster with.
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short starts no cluster")
	}
	if _, err := rabbitmq.FindPrograms(""); err != nil {
		missing(t, err)
	}
}

// missing skips a test, or fails it where a RabbitMQ has to be there.
func missing(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, rabbitmq.ErrNoBroker) && os.Getenv(rabbitmqtest.EnvRequire) != "1" {
		t.Skip("skipped: there is no RabbitMQ to start a cluster with: ", err)
	}
	t.Fatal(err)
}

// Start starts a cluster, which is stopped at the end of the test. It takes some fifteen seconds of processor time, so that
// -short leaves such tests out.
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
