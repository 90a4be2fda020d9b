package search

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// impatient polls the holder twice in a wait that may poll once, and then looks at the slot. Top is the number of its
// poll.
type impatient struct{ *amqplock.Protocol }

func (w impatient) Next(m *amqplock.Machine) amqp.Command {
	c := w.Protocol.Next(m)
	if m.Op == lock.Wait && m.Top == 2 {
		c.Queue = w.Layout.A[m.Arg]
	}
	return c
}

func (w impatient) Apply(m *amqplock.Machine, r amqp.Reply) {
	w.Protocol.Apply(m, r)
	if m.Op == lock.Wait && m.Done() && m.Top < 2 {
		m.Top++
		m.Tries, m.Phase, m.Answered, m.Seen, m.Result = 0, amqplock.Polling, 0, 0, lock.Result{}
	}
}

// TestViolationOnTheWay: a command that only reads unchangeable state goes first. Its violations are found, even if
// no later state shows them.
func TestViolationOnTheWay(t *testing.T) {
	target := *amqplock.References[0]
	target.Design = amqplock.Design{Variant: func(p *amqplock.Protocol) amqplock.Implementation { return impatient{p} }}
	b := standard(0, 0, 0, 1, 0)
	b.Target = &target
	b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Polls, o.Pipeline = 0, 0 })
	b.Clients = []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Wait, Arg: 1}}}}
	for _, red := range []Reductions{{}, AllReductions} {
		if r := Run(context.Background(), b, Options{Reductions: red, Workers: 1}); !r.Found.Has(property.Progress) {
			t.Errorf("%+v: found %b in %d states", red, r.Found, r.States)
		}
	}
}
