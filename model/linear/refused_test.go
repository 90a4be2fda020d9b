package linear

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// TestRefusedByItsLimit: a caller may state a limit on the number of holders. It may be refused with "full" while slots
// are free only if its limit is below the number of slots.
func TestRefusedByItsLimit(t *testing.T) {
	for _, test := range []struct {
		limit uint16
		after string
		want  Decision
	}{{1, "", Legal}, {2, "", Legal}, {3, "", Illegal}, {0, "", Illegal}, {1, "c3 remove 1\nc3 ok remove\n", Legal}, {3, "c3 add 1\nc3 ok add\n", Illegal}} {
		t.Run(fmt.Sprint(test.limit, test.after), func(t *testing.T) {
			h := drawn.Script(t, lock.Semaphore, 3, "c1 acquire\nc1 ok acquire 1\nc2 acquire\nc2 fail acquire full\n"+test.after)
			for i := range h.Events {
				if e := &h.Events[i]; e.F.Op() == lock.Acquire && e.Type == history.Invoke {
					e.Slots = test.limit
				}
			}
			if f := Check(h, Options{}); f.Decision != test.want {
				t.Errorf("%s %s, expected %s", f.Decision, f.Why, test.want)
			}
		})
	}
}
