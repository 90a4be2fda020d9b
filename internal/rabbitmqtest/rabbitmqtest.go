// Package rabbitmqtest gives tests a real RabbitMQ, and skips them where there is none.
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

// EnvRequire names the environment variable that makes a missing broker a failure.
const EnvRequire = "LOCKPROOF_REQUIRE_BROKER"

const startLimit = 3 * time.Minute // for a broker of our own to be ready; an image may have to be pulled

// URL is the address of a RabbitMQ that tests share, with one another and maybe with other programs:
// name queues so that nothing collides, and remove them. It is the one that LOCKPROOF_AMQP_URL
// names, else the one on this machine's usual port, else one that is started for this test binary
// and stopped when its process ends.
func URL(t testing.TB) string {
	t.Helper()
	return Shared(t).URL
}

// Shared is the RabbitMQ whose address is [URL].
func Shared(t testing.TB) *rabbitmq.Broker {
	t.Helper()
	b, err := shared()
	if err != nil {
		unavailable(t, err)
	}
	return b
}

// Private is a RabbitMQ for this test alone, a private node whatever the environment says, which
// may be restarted. It is stopped at the end of the test.
func Private(t testing.TB) *rabbitmq.Broker {
	t.Helper()
	return Configured(t, "")
}

// Configured is [Private] with an advanced.config, and with plugins. Starting a node takes some ten seconds of processor time:
// -short leaves tests out that need one of their own.
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

// shared is the broker behind URL. No test stops it. A broker that was started for us ends with our process, the only
// moment at which no test can want it any more.
var shared = sync.OnceValues(func() (*rabbitmq.Broker, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return rabbitmq.Start(ctx, rabbitmq.Options{Container: containertest.Start})
})

// unavailable skips a test because there is no broker. A broker that is there but does not work, or
// one that has to be there, fails it.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, rabbitmq.ErrNoBroker) && os.Getenv(EnvRequire) != "1" {
		t.Skip(err)
	}
	t.Fatal(err)
}
