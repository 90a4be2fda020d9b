package recognise

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// A token that is dead-lettered from one queue to another when the lock is released is not known by the queue from which it was
// taken; one that is gone, or comes back, is.
func TestTokenMoves(t *testing.T) {
	token := []map[numbering]int{{}}
	for name, after := range map[string]struct {
		queues Snapshot
		known  bool
	}{
		"back":      {Snapshot{"jobs.one": {ready: token}, "jobs.two": {}}, true},
		"gone":      {Snapshot{"jobs.one": {}, "jobs.two": {}}, true},
		"elsewhere": {Snapshot{"jobs.one": {}, "jobs.two": {ready: token}}, false},
	} {
		p := NewProbe()
		p.Uses = []*Use{{
			Lock: "jobs", Slot: 1, Granted: true,
			Before: Snapshot{"jobs.one": {ready: token}, "jobs.two": {}},
			During: Snapshot{"jobs.one": {taken: token}, "jobs.two": {}},
			After:  after.queues,
		}}
		if d := p.Design(lock.Mutex, Naming{}); d.Known() != after.known {
			t.Errorf("%s: %s", name, d.String())
		}
	}
}
