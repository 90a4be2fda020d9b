// Package rabbitmqtest provides a real RabbitMQ to tests. If there is none, the tests are skipped.
//
// With LOCKPROOF_REQUIRE_BROKER=1 in the environment, a test that would be skipped fails instead.
package rabbitmqtest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/containertest"
)

// EnvRequire names an environment variable. If it is 1, a test fails if there is no broker; otherwise it is skipped.
const EnvRequire = "LOCKPROOF_REQUIRE_BROKER"

const startLimit = 3 * time.Minute // for a broker to start, which may include pulling its image

// URL returns the address of a RabbitMQ that tests share, with one another and maybe with other programs. So a test
// must use queue names that are unique, and delete its queues. It is the RabbitMQ named by LOCKPROOF_AMQP_URL,
// otherwise the one at this machine's usual port, otherwise one that is started for this test binary.
func URL(t testing.TB) string {
	t.Helper()
	return Shared(t).URL
}

// Shared returns the RabbitMQ with the address that [URL] returns.
func Shared(t testing.TB) *rabbitmq.Broker {
	t.Helper()
	b, err := shared()
	if err != nil {
		unavailable(t, err)
	}
	return b
}

// Private starts a RabbitMQ node for this test alone, even if the environment names another one. The test may restart
// it. It is stopped at the end of the test.
func Private(t testing.TB) *rabbitmq.Broker {
	t.Helper()
	return Configured(t, "")
}

// Configured starts a node as [Private] does, with an advanced.config and with plugins. That takes about ten seconds
// of processor time, so with -short the test is skipped.
func Configured(t testing.TB, advanced string, plugins ...string) *rabbitmq.Broker {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short starts no RabbitMQ")
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	b, err := rabbitmq.StartNode(ctx, rabbitmq.Options{Advanced: advanced, Plugins: plugins, Log: func(line string) { t.Log(line) }})
	if err != nil {
		unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// shared returns the broker behind [URL]. No test stops it. If it was started for this test binary, it ends with the
// process.
var shared = sync.OnceValues(func() (*rabbitmq.Broker, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return rabbitmq.Start(ctx, rabbitmq.Options{Container: containertest.Start})
})

// unavailable skips a test if err says that there is no broker. It fails the test if the broker does not work, or if
// the environment requires one.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, rabbitmq.ErrNoBroker) && os.Getenv(EnvRequire) != "1" {
		t.Skip(err)
	}
	t.Fatal(err)
}
