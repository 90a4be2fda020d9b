package lockproof_test

import (
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// anywhere is the reference semaphore, except that an acquire begins its scan at a random slot.
type anywhere struct{ *amqplock.Protocol }

func (a anywhere) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	a.Protocol.Start(m, op, arg)
	if op == lock.Acquire && m.Link == amqplock.Up {
		m.Phase = amqplock.ChoosingSlot
	}
}

func (a anywhere) Choices(m *amqplock.Machine) int {
	if m.Phase == amqplock.ChoosingSlot {
		return 2
	}
	return a.Protocol.Choices(m)
}

func (a anywhere) Choose(m *amqplock.Machine, i int) {
	a.Protocol.Choose(m, i)
	if m.Phase == amqplock.ChoosingJitter {
		a.Protocol.Choose(m, 0)
	}
}

// TestChoosesFirst: Prove and Explore accept an acquire whose first step is a random choice.
func TestChoosesFirst(t *testing.T) {
	mine := lockproof.Protocol("anywhere", lockproof.Semaphore, func(p *amqplock.Protocol) amqplock.Implementation { return anywhere{p} })
	res, err := lockproof.Prove(t.Context(), mine, lockproof.Sample{Executions: 200})
	if err != nil {
		t.Fatal(err)
	}
	if j := res.Judgement("mutual-exclusion"); j.Verdict != lockproof.Passed {
		t.Errorf("sampled: %+v", j)
	}
	res, err = lockproof.Explore(t.Context(), mine, lockproof.Bounds{Clients: 2, Admins: lockproof.None, Rounds: 1, Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	if j := res.Judgement("mutual-exclusion"); j.Verdict != lockproof.Proved {
		t.Errorf("explored: %+v", j)
	}
}
