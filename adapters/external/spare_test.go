package external_test

import (
	"context"
	"net"
	"net/url"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/external/externaltest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// preparing begins clients before they are needed.
type preparing struct {
	externaltest.Machines
	early             bool // they connect before they are told who they are
	started, prepared *atomic.Int32
}

func (s preparing) Start(ctx context.Context, number int) (external.Client, error) {
	s.started.Add(1)
	return s.Machines.Start(ctx, number)
}

func (s preparing) Prepare(ctx context.Context, address string) (external.Client, error) {
	s.prepared.Add(1)
	if u, err := url.Parse(address); s.early && err == nil {
		if c, err := net.Dial("tcp", u.Host); err == nil {
			defer c.Close()
		}
	}
	return s.Machines.Start(ctx, 0)
}

// TestPrepared: who crashes is replaced by a client that stands ready, and an execution is what it is without.
func TestPrepared(t *testing.T) {
	t.Parallel()
	crash := sim.Shape{Crashes: new(float64)}
	*crash.Crashes = 0.3
	source := sim.NewSource(sim.Space{Target: amqplock.References[0], Shape: crash}, 3)
	o := amqplock.Table.Edit(amqplock.DefaultOptions(), func(o *amqplock.Options) { o.Pipeline = 0 }) // how much is written ahead would be chance
	machines := externaltest.Machines{Target: amqplock.References[0], Options: o}
	play := func(s external.Starter) (all []*scenario.Trace) {
		runner := newRunner(t, amqplock.References[0], func(c *external.Config) { c.Starter = s })
		for i := range 30 {
			sc := runner.Playable(source.Scenario(i))
			x, err := runner.Run(t.Context(), &sc)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, x.Trace)
		}
		return all
	}
	want := play(machines)
	for _, early := range []bool{false, true} {
		s := preparing{machines, early, new(atomic.Int32), new(atomic.Int32)}
		for i, x := range play(s) {
			if !reflect.DeepEqual(x.Steps, want[i].Steps) || !reflect.DeepEqual(x.History, want[i].History) {
				t.Errorf("early %v: scenario %d is carried out in another way", early, i)
			}
		}
		if s.prepared.Load() == 0 || !early && s.started.Load() > s.prepared.Load() {
			t.Errorf("early %v: %d clients begun before, %d when they were needed", early, s.prepared.Load(), s.started.Load())
		}
	}
}
