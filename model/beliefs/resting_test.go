package beliefs

import (
	"reflect"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
)

// TestRest: a packed state that is unpacked again is unchanged.
func TestRest(t *testing.T) {
	rested := 0
	for seed := range uint64(1000) {
		choose := drawn.BySeed(seed)
		h := drawn.History(choose, drawn.Any(choose))
		if linear.Validate(h) != nil {
			continue
		}
		w := New(h, linear.Options{})
		for i := range h.Events {
			w.Event(i, &h.Events[i])
			for of, s := range w.sessions {
				if r, ok := s.packed(); ok {
					rested++
					if got := r.woken(); !reflect.DeepEqual(got, s) || r.lock != of.lock {
						t.Fatalf("seed %d, event %d: %+v, expected %+v", seed, i, got, s)
					}
				}
			}
		}
	}
	if rested < 1000 {
		t.Errorf("only %d sessions could rest: that says little", rested)
	}
}

// TestRestForgets: the states of dead clients are packed, and a late event unpacks the state of its client.
func TestRestForgets(t *testing.T) {
	d := drawn.Crowd{Operations: 20_000, Clients: 10, Slots: 3, Unanswered: 0.05, Evidence: true}
	w, n := New(d.History(), linear.Options{}), 0
	late := int32(0)
	_ = d.Each(1, func(e history.Event) error {
		w.Event(n, &e)
		n++
		if e.F == history.Gone {
			late = e.Target
		}
		return nil
	})
	if len(w.sessions) > 50 || len(w.uses) > 50 || len(w.ended) > 50 || len(w.resting) < 500 {
		t.Errorf("%d sessions, of %d processes, %d ended, and %d rest", len(w.sessions), len(w.uses), len(w.ended), len(w.resting))
	}
	before := len(w.resting)
	w.Event(n, &history.Event{Process: late, Type: history.Info, F: history.F(1)})
	if len(w.resting) != before-1 || !w.session(late, 0).gone {
		t.Errorf("%d rest, %d before; %+v", len(w.resting), before, w.session(late, 0))
	}
}
