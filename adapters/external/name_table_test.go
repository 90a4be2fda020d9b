package external

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// TestGuardOfNumberZero: administrators may guard a semaphore by what would be the queue of slot 0, of which there is none, but
// not by that of slot 1.
func TestGuardOfNumberZero(t *testing.T) {
	for admin, collides := range map[string]bool{"{name}#0": false, "{name}#1": true} {
		naming, err := recognise.ParseNaming("A={name}#{n},B={name}#{n}*,admin=" + admin)
		if err != nil {
			t.Fatal(err)
		}
		design := recognise.Design{Naming: naming, Holding: recognise.ByQueue}
		table := &nameTable{names: new(amqp.Names), written: make(map[string]amqp.Queue)}
		for i, name := range []string{"jobs", "other"} {
			l := table.layout(&design, lock.Semaphore, uint8(i), name)
			if got := table.mean(l.admin).Collides; got != collides {
				t.Errorf("%s of %s collides: %v", admin, name, got)
			}
		}
	}
}
