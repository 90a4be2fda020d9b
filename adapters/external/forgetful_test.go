package external_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// oblivious gives up what is not answered within a tenth of a second, keeps its connection, and forgets what comes late.
type oblivious struct {
	named
	late chan struct{} // closed when what was given up is over
}

func (m *oblivious) Acquire(ctx context.Context, name string) (int, error) {
	if m.late != nil {
		<-m.late
		m.holds = ""
	}
	var got int
	var err error // both are written late where that is given up
	over, inTime := within(100*time.Millisecond, func() { got, err = m.named.Acquire(ctx, name) })
	if inTime {
		return got, err
	}
	m.late = over
	return 0, errImpatient
}

// TestForgotten: who is granted a lock by an acquire that it has given up, and is told later that it does not get it, has forgotten
// that it has it.
func TestForgotten(t *testing.T) {
	runner := mutexRunner(t, "oblivious", func(url string) (inprocess.Lock, error) {
		m := &oblivious{named: named{url: url, name: lockName}}
		return m, m.open()
	})
	actions := []scenario.Action{
		step(1), {Kind: scenario.Stall, Client: 1}, {Kind: scenario.Arrive, Client: 1}, step(1), step(1), step(1),
	}
	x := carriedOut(t, runner, actions, []scenario.Operation{acquire, acquire}, nil)
	if !x.Found.Has(property.NoLeak) {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}
