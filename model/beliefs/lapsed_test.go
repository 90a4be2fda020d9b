package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestVerifyAfterLease: a client verifies after its lease has ended. If another client certainly holds the lock, the
// answer held is wrong. Otherwise the answer is allowed, but starts no new hold.
func TestVerifyAfterLease(t *testing.T) {
	const lapsed, taken, yes, no = "c1 acquire\nc1 ok acquire 1\nlapse c1\n", "c2 acquire\nc2 ok acquire 1\n", "c1 verify 1\nc1 ok verify 1\n", "c1 verify 1\nc1 ok verify 1 no\n"
	stale := property.Set(1 << property.StaleBeliefEnds)
	for text, broken := range map[string]property.Set{
		lapsed + taken + yes:                                  stale,
		lapsed + taken + no:                                   0,
		lapsed + yes + taken:                                  0,
		lapsed + taken + "lapse c2\n" + yes:                   0,
		lapsed + "c1 verify 1\n" + taken + "c1 ok verify 1\n": 0,
	} {
		h := drawn.Script(t, lock.Mutex, 0, text)
		h.GoneMayFree = true
		var got property.Set
		for _, v := range judge(h, linear.Options{}) {
			if v.Decision == linear.Illegal {
				got = got.With(v.Property)
			}
		}
		if got != broken {
			t.Errorf("%s\nbroken are %v, expected %v", text, got.Names(), broken.Names())
		}
	}
}
