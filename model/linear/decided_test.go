package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// hard are small histories that take porcupine half a million to twenty million steps under weak or strong semantics of
// failed acquires. It visits every subset of the unanswered operations. With that many steps, its decision is the same
// as that of the search.
var hard = []struct {
	name    string
	slots   int
	decided Decision
	text    string
}{
	{
		name: "a slot that never was, after three acquires without an answer", slots: 1, decided: Illegal,
		text: `
			c4 acquire
			c2 acquire
			c3 acquire
			c1 acquire
			c1 info acquire 1 timed-out
			c1 verify 1
			c2 fail acquire full
			c2 acquire
			c2 fail acquire gave-up
			c3 fail acquire full
			c3 acquire
			c4 info acquire timed-out
			c4 acquire
			c1 ok verify 1 no
			c2 acquire
			crash c3
			c2 fail acquire full
			c2 acquire
			c1 acquire
			c4 fail acquire full
			c2 ok acquire 3
			c4 acquire`,
	},
	{
		name: "the same, verified in between", slots: 2, decided: Illegal,
		text: `
			c1 acquire
			c1 info acquire disconnected
			c3 acquire
			c4 acquire
			c3 ok acquire 1
			c3 release 1
			c4 info acquire timed-out
			c3 ok release 1
			c4 verify 2
			c3 acquire
			c4 info verify 2 timed-out
			c3 ok acquire 1
			c3 verify 1
			c3 info verify timed-out
			c3 acquire
			c4 acquire
			c4 info acquire timed-out
			c4 verify 2
			c4 ok verify 2
			c4 release 2
			c3 ok acquire 3
			c3 acquire
			c4 fail release busy`,
	},
	{
		name: "three slots, all of them held by unanswered acquires", slots: 3, decided: Legal,
		text: `
			c2 acquire
			c3 acquire
			c4 acquire
			c1 acquire
			c1 info acquire 1 timed-out
			c3 info acquire timed-out
			c3 acquire
			c3 info acquire timed-out
			c3 acquire
			c4 fail acquire full
			c1 verify 1
			c4 acquire
			c4 fail acquire gave-up
			c4 verify 3
			crash c3
			c1 ok verify 1
			gone c3
			c4 ok verify 3 no
			c1 verify 1`,
	},
	{
		name: "administration beside them", slots: 2, decided: Legal,
		text: `
			c1 destroy
			c2 create 1
			c2 fail create busy
			c3 acquire
			c2 add 2
			c1 info destroy timed-out
			gone c1
			c3 fail acquire full
			c4 acquire
			c3 acquire
			c4 info acquire 1 timed-out
			c3 fail acquire disconnected
			c2 ok add
			c4 verify 1
			c3 acquire
			c3 info acquire timed-out
			c4 ok verify 1
			c3 acquire
			c4 release 1
			c5 add 2
			c2 count
			c3 ok acquire 2
			c5 ok add
			c5 remove 2
			c3 acquire
			c4 ok release 1
			c3 info acquire timed-out
			c2 ok count 3
			c3 release 2
			c4 acquire
			c5 ok remove`,
	},
	{
		name: "a verify of what an unanswered acquire took", slots: 2, decided: Legal,
		text: `
			c2 acquire
			c1 acquire
			c1 ok acquire 1
			c3 acquire
			c1 acquire
			c2 info acquire timed-out
			c4 acquire
			c2 verify 2
			c3 info acquire disconnected
			c5 acquire
			c2 ok verify 2`,
	},
}

func TestHardHistoriesAreDecided(t *testing.T) {
	for _, c := range hard {
		t.Run(c.name, func(t *testing.T) {
			h := drawn.Script(t, lock.Semaphore, c.slots, c.text)
			for s := property.Weak; s <= property.Strong; s++ {
				if f := Check(h, Options{FailedAcquire: s}); f.Decision != c.decided || f.How != bySearch {
					t.Errorf("%s: %+v, expected %s", s, f, c.decided)
				}
			}
		})
	}
}

// TestSmallHistoriesAreDecided: every small random history is decided.
func TestSmallHistoriesAreDecided(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 10_000
	}
	var c Checker
	for seed := range uint64(n) {
		choose := drawn.BySeed(seed)
		h := drawn.History(choose, drawn.Any(choose))
		if Validate(h) != nil {
			continue
		}
		for s := property.Weak; s <= property.Strong; s++ {
			if err := c.normaliser.normalise(h, 0, Options{}); err != nil || c.normaliser.inconsistent() {
				continue
			}
			if f := c.Linearizable(h, Options{FailedAcquire: s}); f.Decision == Undecided {
				t.Errorf("seed %d, %s: %s\n%s", seed, s, f.Why, drawn.Tell(h))
			}
		}
	}
}
