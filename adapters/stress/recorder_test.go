package stress

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// TestClientsAreNamed: reports on a recorded history name clients by their client numbers, also after a client died
// and got a new process number.
func TestClientsAreNamed(t *testing.T) {
	load := Load{Slots: 1, Clients: 3, Admins: 1}
	var r Recorder
	r.Begin()
	for _, process := range []int32{load.Process(2, 4), load.Process(1, 3)} {
		r.Invoke(process, lock.Acquire, 0)
		r.Complete(process, lock.Acquire, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 0)
	}
	verdicts, err := judge.History(r.History(lock.Semaphore, &load), linear.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if v.Decision != linear.Illegal {
			continue
		}
		if !strings.Contains(v.Why, "c1") || !strings.Contains(v.Why, "c2") {
			t.Errorf("%s: %s, expected it to be of c1 and c2", v.Property, v.Why)
		}
	}
}
