package linear

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// anyEvents converts any bytes to events. Most of these histories are malformed.
func anyEvents(data []byte) *history.History {
	c := drawn.ByBytes{Rest: &data}
	h := &history.History{Kind: lock.Kind(c.Below(3)), Locks: []string{"jobs", "mails"}, Slots: []int{c.Below(4), c.Below(4)}}
	for len(data) > 0 && len(h.Events) < 60 {
		e := history.Event{
			Process: int32(c.Below(5) - 1), Target: int32(c.Below(5)), Lock: uint16(c.Below(2)), Slot: uint16(c.Below(5)),
			Slots: uint16(c.Below(4)), Type: history.EventType(c.Below(4)), F: history.F(c.Below(12)), Reason: lock.Reason(c.Below(9)),
			Held: c.Below(2) == 0,
		}
		if e.Process == history.Nemesis {
			e.Type, e.F = history.Info, history.Crash+history.F(c.Below(4))
		}
		h.Events = append(h.Events, e)
	}
	return h
}

// mend makes a history well-formed by removing the events that do not fit.
func mend(h *history.History) {
	for {
		err, ok := Validate(h).(*Malformed)
		if !ok {
			return
		}
		if e := &h.Events[err.Event]; e.F == history.F(lock.Acquire) && e.Type == history.OK && !e.Held {
			e.Held = true
			continue
		}
		h.Events = append(h.Events[:err.Event], h.Events[err.Event+1:]...)
	}
}

// FuzzCheck checks arbitrary events, to find some on which a check panics.
func FuzzCheck(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 0, 0, 0, 0, 0, 2, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		h := anyEvents(data)
		err := Validate(h)
		o := Options{FailedAcquire: property.FailedAcquire(len(data) % 2), Releases: Releases(len(data) / 2 % 2), Steps: 1 << 13}
		if found := Check(h, o); err != nil && found.Decision != Undecided {
			t.Errorf("%v, but %+v", err, found)
		}
		mend(h)
		Check(h, o)
		for l := range h.Locks {
			if p, err := Specify(h, l, o); err == nil {
				p.Check(o.Steps)
			}
		}
	})
}

// agrees is a rapid property: the fast check, the search and porcupine agree on a random history. Rapid shrinks a
// history on which they disagree.
func agrees(t *rapid.T) {
	data := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "choices")
	c := drawn.ByBytes{Rest: &data}
	h := drawn.History(c, drawn.Any(c))
	mend(h)
	for _, o := range readings {
		var checker Checker
		if f, r := decide(t, &checker, h, o); disagree(f, r) {
			t.Fatalf("%+v: the fast check says %s (%s), search and porcupine %s:\n%s", o, f.Decision, f.Why, r, drawn.Tell(h))
		}
	}
}

func TestFastCheckAgreesWithPorcupineShrinking(t *testing.T) { rapid.Check(t, agrees) }

func FuzzAgreement(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agrees)) }
