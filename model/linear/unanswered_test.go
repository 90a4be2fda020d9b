package linear

import (
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/lock"
)

// TestUnansweredOperation: if ends of connections are not recorded, an unanswered operation does not mean that its
// client lost its slots. It may mean that only if the reason is a lost connection or a crash.
func TestUnansweredOperation(t *testing.T) {
	const both = "c1 acquire\nc1 ok acquire\nc2 acquire\nc2 ok acquire\n"
	for _, test := range []struct {
		name, text string
		want       Decision
	}{
		{"none", both, Illegal},
		{"an acquire of the holder that never ends", both + "c1 acquire\n", Illegal},
		{"an acquire of the holder of unknown outcome", both + "c1 acquire\nc1 info acquire\n", Illegal},
		{"a verify of unknown outcome", both + "c1 verify\nc1 info verify\n", Illegal},
		{"a verify that timed out", both + "c1 verify\nc1 info verify timed-out\n", Illegal},
		{"a release that never ends", both + "c1 release\n", Illegal},
		{"a verify that was told of a lost connection", both + "c1 verify\nc1 info verify disconnected\n", Legal},
		{"a verify in which the client crashed", both + "c1 verify\nc1 info verify crashed\n", Legal},
		{"a crash", both + "crash c1\n", Legal},
		{"a verify invoked before the other grant", "c1 acquire\nc1 ok acquire\nc1 verify\nc2 acquire\nc2 ok acquire\nc1 info verify timed-out\n", Legal},
		{"an acquire of the holder invoked before the other grant", "c1 acquire\nc1 ok acquire\nc1 acquire\nc2 acquire\nc2 ok acquire\nc1 info acquire timed-out\n", Illegal},
		{"an acquire of the holder that never ends, invoked before the other grant", "c1 acquire\nc1 ok acquire\nc1 acquire\nc2 acquire\nc2 ok acquire\n", Illegal},
		{"a release of the holder invoked before two other grants", "c1 acquire\nc1 ok acquire\nc1 release\nc2 acquire\nc2 ok acquire\nc3 acquire\nc3 ok acquire\n", Illegal},
		{"after a failed release", "c1 acquire\nc1 ok acquire\nc1 release\nc1 fail release\nc2 acquire\nc2 ok acquire\nc1 acquire\nc1 info acquire\n", Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := drawn.Script(t, lock.Mutex, 0, test.text)
			for _, o := range readings {
				f, others := decide(t, new(Checker), h, o)
				if others[0] != test.want || disagree(f, others) {
					t.Errorf("%+v: the fast check says %s, the others %v, expected %s", o, f.Decision, others, test.want)
				}
			}
		})
	}
}
