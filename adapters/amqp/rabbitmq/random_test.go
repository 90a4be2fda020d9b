package rabbitmq_test

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// quorumQueues: a real one does some things only moments after it has answered (FACTS Q15), which a busy machine makes longer.
var quorumQueues = flag.Bool("quorum", false, "a third of the random sequences have quorum queues, too")

// Random sequences of commands come to the same on the simulated broker and on a real RabbitMQ.
// -rapid.checks says how many are tried. It binds exchanges that all tests have in common, and runs beside no other.
func TestRandomCommands(t *testing.T) {
	b := rabbitmqtest.Shared(t)
	var w *real // its connections serve many sequences
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
			w.end() // what state it is in, nobody knows
			w, wait = nil, hurry
			t.Fatal(err)
		}
	})
}

// hurry is how long the real broker is waited for once there was a disagreement: most of what rapid
// tries to make of it disagrees as well.
const hurry = 200 * time.Millisecond
