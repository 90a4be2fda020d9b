package external_test

import (
	"crypto/rand"
	"maps"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// unlike makes clients that declare their lock's queue each in a way of their own, and with further arguments.
func unlike(t *testing.T, stays bool, further amqp091.Table) *external.Runner {
	return mutexRunner(t, "unlike", func(url string) (inprocess.Lock, error) {
		mine := amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": rand.Text()}
		maps.Copy(mine, further)
		p := &passing{url: url, fleeting: !stays, arguments: mine}
		return p, p.open()
	})
}

// TestDeclaredFirst: so it is where whoever declared the queue has yet to take it.
func TestDeclaredFirst(t *testing.T) {
	x := carriedOut(t, unlike(t, false, nil), append(append(steps(1, 1), steps(2, 1)...), steps(1, 1)...), []scenario.Operation{acquire}, []scenario.Operation{acquire})
	if x.Found != 0 {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}

// TestDeclaredByTheDead: so it is as well where whoever declared it has died before that, as long as the queue goes by itself. One that
// stays is in everybody's way for ever.
func TestDeclaredByTheDead(t *testing.T) {
	for _, lapses := range []bool{false, true} {
		var further amqp091.Table
		if lapses {
			further = amqp091.Table{"x-expires": 20_000}
		}
		actions := append(append(steps(1, 1), scenario.Action{Kind: scenario.CrashBefore, Client: 1}), steps(2, 1)...)
		x := carriedOut(t, unlike(t, false, further), actions, []scenario.Operation{acquire}, []scenario.Operation{acquire})
		if x.Found.Has(property.Progress) == lapses {
			t.Errorf("lapses %v: %v\n%s", lapses, x.Violations, drawn(x))
		}
	}
}

// TestDeclaredOtherwise: who is told by 406 that the lock is somebody's, as it declares a queue otherwise, has not failed; where it is
// nobody's, since the queue stays, that is no answer.
func TestDeclaredOtherwise(t *testing.T) {
	for _, stays := range []bool{false, true} {
		runner := unlike(t, stays, nil)
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
