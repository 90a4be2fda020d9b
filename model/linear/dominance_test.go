package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// dominance has legal histories to test when the fast check may discard a state. At some event, two states are
// possible, and the one that looks better fails later. The other state must therefore not be discarded as dominated.
var dominance = []struct {
	name          string
	slots         int
	late          bool // ends of connections are recorded when they are noticed, which may be late
	failedAcquire property.FailedAcquire
	text          string
}{
	{
		name: "an unanswered acquire is used up: one that is alike could have been", slots: 1, late: true, failedAcquire: property.Weak,
		text: `
			c1 acquire
			crash c1
			c2 acquire
			c2 info acquire timed-out
			c3 acquire
			c3 fail acquire full
			gone c2
			c4 acquire
			c4 ok acquire 1
			c4 release 1
			c4 ok release 1
			c3 acquire
			c3 fail acquire full`,
	},
	{
		name: "an unanswered acquire is used up: one that is unlike others", slots: 2, failedAcquire: property.Weak,
		text: `
			c2 acquire
			c3 acquire
			c2 ok acquire 1
			c3 info acquire timed-out
			c1 acquire
			c2 acquire
			c2 fail acquire full
			restart
			c2 acquire
			c3 acquire
			c2 fail acquire full
			c3 ok acquire 2`,
	},
	{
		name: "a slot was given back later in one than in the other", slots: 2, failedAcquire: property.Weak,
		text: `
			c1 acquire
			c1 ok acquire 1
			c4 wait 1
			c5 count
			c1 release 1
			c5 ok count 2
			c3 acquire
			c4 ok wait 1
			c2 acquire
			c2 ok acquire 2
			c3 fail acquire full
			c1 ok release 1`,
	},
	{
		name: "every slot was taken later in one than in the other", slots: 3, failedAcquire: property.Strong,
		text: `
			c4 acquire
			c2 acquire
			c4 ok acquire 1
			c3 acquire
			c3 ok acquire 3
			c3 release 3
			c4 release 1
			c4 ok release 1
			c4 acquire
			c2 ok acquire 2
			c3 ok release 3
			c2 release 2
			c1 acquire
			c2 ok release 2
			c2 acquire
			c3 acquire
			c4 ok acquire 1
			c1 ok acquire 3
			restart
			c2 ok acquire 2
			c3 fail acquire full`,
	},
	{
		name: "an unanswered acquire lost its slot at a moment that matters to a wait", slots: 3, failedAcquire: property.Strong,
		text: `
			c4 acquire
			c2 acquire
			c3 acquire
			c3 ok acquire 1
			c1 add 2
			c3 acquire
			c1 ok add
			c1 wait 3
			c3 fail acquire full
			c1 ok wait 3`,
	},
}

func TestDominance(t *testing.T) {
	for _, d := range dominance {
		h := drawn.Script(t, lock.Semaphore, d.slots, d.text)
		h.GoneLate = d.late
		if err := Validate(h); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		f := Check(h, Options{FailedAcquire: d.failedAcquire})
		if f.Decision != Legal || f.How != byFastCheck {
			t.Errorf("%s: %s by %s: %s", d.name, f.Decision, f.How, f.Why)
		}
	}
}
