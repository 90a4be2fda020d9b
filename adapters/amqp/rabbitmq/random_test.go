package rabbitmq_test

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// quorumQueues is off by default: a real quorum queue does some things only moments after its reply (FACTS Q15), and
// later on a busy machine.
var quorumQueues = flag.Bool("quorum", false, "a third of the random sequences have quorum queues, too")

// Random sequences of commands have the same results on the simulated broker and on a real RabbitMQ. -rapid.checks sets
// their number. The test binds exchanges that all tests share, so it does not run in parallel.
func TestRandomCommands(t *testing.T) {
	b := rabbitmqtest.Shared(t)
	var w *real // a real broker, whose connections are reused for many sequences
	defer func() {
		if w != nil {
			w.end()
		}
	}()
	wait := patience
	rapid.Check(t, func(t *rapid.T) {
		drawn := drafts.Draw(t, "steps")
		if w == nil {
			var err error
			if w, err = newReal("random", b.URL, newNames()); err != nil {
				t.Fatal(err)
			}
			w.patience = wait
		}
		err := newMatch(w, broker.Like(b.Version), wait).play(drawn)
		if err == nil {
			err = w.err
		}
		if err != nil {
			w.end() // the state of its queues is unknown, so the next sequence gets a new real
			w, wait = nil, hurry
			t.Fatal(err)
		}
	})
}

// hurry is how long to wait for the real broker after the first disagreement. While rapid shrinks, most sequences
// disagree as well.
const hurry = 200 * time.Millisecond
