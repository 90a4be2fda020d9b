package clustered

import (
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// historyOf returns a history of clients of one mutex. The events' times are given in seconds.
func historyOf(events ...history.Event) *history.History {
	h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{0}, Clients: 4, GoneLate: true, GoneMayFree: true}
	for _, e := range events {
		e.Time *= int64(time.Second)
		h.Events = append(h.Events, e)
	}
	return h
}

func at(seconds int64, e history.Event) history.Event {
	e.Time = seconds
	return e
}

func granted(begin, end int64, process int32) []history.Event {
	return []history.Event{
		at(begin, history.Invocation(process, 0, lock.Acquire, 0, 0)),
		at(end, history.Completion(process, 0, lock.Acquire, lock.Result{Outcome: lock.Done, Held: true, Slot: 1})),
	}
}

// TestMeasure checks how long two clients held the lock at once, and how the first learned that its hold was over, if
// it did.
func TestMeasure(t *testing.T) {
	both := append(granted(1, 2, 1), granted(8, 9, 2)...)
	cut := history.Event{Time: 3, Process: history.Nemesis, Type: history.Info, F: history.Cut, Nodes: 1, To: 6}
	audit := at(30, history.Occurrence(history.Audit, 0))
	for name, c := range map[string]struct {
		history  *history.History
		longest  time.Duration
		standing bool
		told     string
		words    string
	}{
		"standing":     {historyOf(append(both, cut, at(20, history.Occurrence(history.Heal, 0)), audit)...), 11 * time.Second, true, "", "c1 and c2 held the lock for 11.0 s from 9.0 s on and nobody was told"},
		"told":         {historyOf(append(both, cut, at(15, history.Occurrence(history.Gone, 1)), audit)...), 6 * time.Second, false, "basic.cancel", "until c1 was told"},
		"one":          {historyOf(append(granted(1, 2, 1), audit)...), 0, false, "", ""},
		"in the audit": {historyOf(append(append(granted(1, 2, 1), audit), granted(31, 32, 2)...)...), 0, false, "", ""},
	} {
		a := attempt{stats: &clientstress.Stats{Told: []clientstress.Told{{Process: 1, At: int64(15 * time.Second), How: "basic.cancel"}}}}
		a.out.History = c.history
		m := a.measure()
		if m.Longest != c.longest || m.Standing != c.standing || m.Told != c.told || m.Twice() != (c.longest > 0) {
			t.Errorf("%s: %+v", name, m)
		}
		if said := strings.Join(m.words(c.history), "; "); !strings.Contains(said, c.words) || c.words == "" && said != "" {
			t.Errorf("%s: %q", name, said)
		}
	}
	if said := befell(historyOf(cut)); len(said) != 1 || said[0] != "3.0 s cut n1 → n2, n3" {
		t.Errorf("said %q", said)
	}
}
