package rabbitmq_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/amqp"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
)

// Every reference lock by exclusive queues or by consumption can be measured on a real broker. When a holder dies,
// another client gets the lock. No queue is left behind.
func TestMeasured(t *testing.T) {
	b := rabbitmqtest.Shared(t)
	for _, target := range slices.Concat(amqplock.References, consumption.References) {
		t.Run(target.Name, func(t *testing.T) {
			m, err := measure.Run(t.Context(), b.Measured(), target, measure.Load{Clients: []int{2}, Time: 40 * time.Millisecond})
			// A load may grant nothing, as each token may arrive too late.
			for tries := 1; tries < 3 && err == nil && m.Loads[0].Granted == 0; tries++ {
				m, err = measure.Run(t.Context(), b.Measured(), target, measure.Load{Clients: []int{2}, Time: 40 * time.Millisecond})
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range m.Operations {
				if o.Commands < 1 || o.RoundTrips > o.Commands || o.Sent < 10 {
					t.Errorf("%+v", o)
				}
			}
			for _, l := range m.Loads {
				if l.LeftOut != "" || l.Granted == 0 {
					t.Errorf("%+v", l)
				}
			}
			if m.Free.Count == 0 || m.Lease != 0 {
				t.Errorf("%+v of a lease of %v", m.Free, m.Lease)
			}
		})
	}
}
