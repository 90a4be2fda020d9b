package external_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// unlike is a mutex by the exclusive consumer of a queue that says whose it is: declaring it is refused to all others, as they declare
// it otherwise. It goes with its consumer, unless stays is set, which is wrong: the lock is never had again by anybody else.
type unlike struct {
	passing
	stays bool
	id    string
}

func (u *unlike) Acquire(_ context.Context, name string) (int, error) {
	if err := u.open(); err != nil {
		return 0, err
	}
	arguments := amqp091.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": u.id}
	_, err := u.ch.QueueDeclare("lock-"+name, false, !u.stays, false, false, arguments)
	if err == nil {
		_, err = u.ch.Consume("lock-"+name, name, false, true, false, false, nil)
	}
	var closed *amqp091.Error
	if errors.As(err, &closed) && (closed.Code == amqp091.PreconditionFailed || closed.Code == amqp091.AccessRefused) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return 1, nil
}

// TestDeclaredOtherwise: who is told by 406 that the lock is somebody's has not failed; where it is nobody's, that is no answer.
func TestDeclaredOtherwise(t *testing.T) {
	acquire, release := scenario.Operation{Op: lock.Acquire}, scenario.Operation{Op: lock.Release}
	for _, stays := range []bool{false, true} {
		runner := mutexRunner(t, "unlike", func(url string) (inprocess.Lock, error) {
			return &unlike{passing: passing{url: url}, stays: stays, id: rand.Text()}, nil
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
