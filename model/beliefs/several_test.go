package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestSeveralHolds: if a process holds two locks or two slots, a release ends only the hold that it names.
func TestSeveralHolds(t *testing.T) {
	done := func(p int32, l, slot uint16, op lock.Op) []history.Event {
		e := history.Event{Process: p, Lock: l, Slot: slot, F: history.F(op)}
		answer := e
		answer.Type, answer.Held = history.OK, op == lock.Acquire
		return []history.Event{e, answer}
	}
	both := func(l, slot uint16) (all []history.Event) {
		for _, events := range [][]history.Event{
			done(1, 0, 1, lock.Acquire), done(1, l, slot, lock.Acquire), done(1, 0, 1, lock.Release), done(2, 0, 1, lock.Acquire),
		} {
			all = append(all, events...)
		}
		return all
	}
	for _, test := range []struct {
		name   string
		events []history.Event
		lock   int // number of the violated lock; -1 is none
	}{
		{"two locks", both(1, 1), -1},
		{"two slots", both(0, 2), -1},
		{"the other lock is still held", append(both(1, 1), done(2, 1, 1, lock.Acquire)...), 1},
	} {
		h := &history.History{Kind: lock.Semaphore, Locks: []string{"a", "b"}, Slots: []int{2, 2}, Events: test.events}
		w := New(h, linear.Options{})
		for i := range h.Events {
			w.Event(i, &h.Events[i])
		}
		for _, v := range w.Verdicts() {
			if v.Property != property.MutualExclusion {
				continue
			}
			if got := v.Decision == linear.Illegal; got != (test.lock >= 0) || got && v.Lock != test.lock {
				t.Errorf("%s: %+v", test.name, v)
			}
		}
	}
}
