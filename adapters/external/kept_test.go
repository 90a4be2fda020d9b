package external_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// keeping is a semaphore whose counting takes a message to look at it. keeps is the bug that does not give it back.
type keeping struct {
	tidy
	keeps bool
}

func (k *keeping) Count(_ context.Context, name string) (int, error) {
	ch, err := k.channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
	if err == nil {
		_, _, err = ch.Get(q.Name, false)
	}
	if !k.keeps && err == nil {
		err = ch.Close()
	}
	return q.Messages, err
}

// TestKeptUnknown: a message that its client takes without holding a slot by it, and keeps, is a leak.
func TestKeptUnknown(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		runner := semaphoreRunner(t, "keeping", func(url string) (inprocess.Lock, error) {
			return &keeping{tidy{url: url}, keeps}, nil
		})
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 2}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Count}}}},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x.Found.Has(property.NoLeak) != keeps {
			t.Errorf("keeps: %v: %v\n%s", keeps, x.Violations, drawn(x))
		}
	}
}
