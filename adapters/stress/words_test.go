package stress

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// TestWords: the description of a load mentions slots only for a semaphore.
func TestWords(t *testing.T) {
	l := Load{Slots: 2, Clients: 5, Admins: 1, Rounds: 200, CrashShare: 0.02, Seed: 7}
	for kind, want := range map[lock.Kind]string{
		lock.Semaphore: "5 clients that acquire, 1 that administer, 2 slots at first, 200 rounds, crashes in 0.02 of operations, choices from seed 7",
		lock.Mutex:     "5 clients that acquire, 200 rounds, crashes in 0.02 of operations, choices from seed 7",
	} {
		if got := l.Fit(kind).Words(kind); got != want {
			t.Errorf("%s: said %q, want %q", kind, got, want)
		}
	}
}
