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

// impatient is a mutant. In a Wait that allows one poll, it polls the holder's queue twice and then reads the slot's
// queue. Machine.Top counts the extra polls.
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

// TestViolationOnTheWay: a command that reads only unchangeable queues goes before all other actions. The search finds
// its violation, though no later state shows it.
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
