package external_test

import (
	"crypto/rand"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestDeclaredOtherwise: who is told by 406 that the lock is somebody's, as it declares a queue otherwise, has not failed; where it is
// nobody's, since the queue stays, that is no answer.
func TestDeclaredOtherwise(t *testing.T) {
	for _, stays := range []bool{false, true} {
		runner := mutexRunner(t, "unlike", func(url string) (inprocess.Lock, error) {
			mine := amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": rand.Text()}
			return &passing{url: url, fleeting: !stays, arguments: mine}, nil
		})
		first := []scenario.Operation{acquire}
		if stays {
			first = append(first, release)
		}
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs"}},
			Clients:  []scenario.Client{{Ops: first}, {Ops: []scenario.Operation{acquire}}},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x.Found.Has(property.Progress) != stays {
			t.Errorf("stays %v: %v\n%s", stays, x.Violations, drawn(x))
		}
	}
}
