package linear

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// source reads a history that is in memory.
func source(h *history.History) Source {
	return func(event func(e *history.Event) error) error {
		for i := range h.Events {
			if err := event(&h.Events[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// whole is the finding of the fast check on the whole history at once.
func whole(h *history.History, o Options) Finding {
	c := new(Checker)
	if err := c.normaliser.normalise(h, 0, o); err != nil {
		return Finding{Event: err.Event, Why: err.Error()}
	}
	if c.normaliser.inconsistent() {
		return inconsistent
	}
	return c.fast(o)
}

// TestRead: a history that is read with a small window of events is decided like the whole history, or not decided.
func TestRead(t *testing.T) {
	n := 6000
	compared, decided, same := 0, 0, 0
	if testing.Short() {
		n = 2000
	}
	for seed := range uint64(n) {
		c := drawn.BySeed(seed)
		d := drawn.Any(c)
		d.Steps += 150
		h := drawn.History(c, d)
		o := Options{FailedAcquire: property.FailedAcquire(c.Below(2)), Releases: Releases(c.Below(8) / 7)}
		window := []int{24, 60, 120}[c.Below(3)]
		if len(h.Events) < window {
			continue
		}
		want := whole(h, o)
		got, err := checkRead(&history.History{Kind: h.Kind, Locks: h.Locks, Slots: h.Slots, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree}, source(h), o, window)
		if err != nil {
			if Validate(h) == nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue
		}
		f := got
		compared++
		if want.Decision != Undecided {
			decided++
		}
		switch {
		case f.Decision == want.Decision && (f.Decision == Undecided || f.Event == want.Event && f.Why == want.Why):
			same++
		case f.Decision == Legal && want == tooMany: // the order of states may differ
		case f.Decision == Illegal && want.Decision == Illegal && f.Event > want.Event: // found at a later event
		case f.Decision != Undecided:
			t.Errorf("seed %d, window %d, %+v: %v at event %d (%s), as a whole %v at %d (%s)", seed, window, d, f.Decision, f.Event, f.Why, want.Decision, want.Event, want.Why)
		}
	}
	if decided < compared/2 || same < compared*9/10 {
		t.Errorf("of %d histories %d were decided as a whole, and %d alike", compared, decided, same)
	}
}

// TestReadForgets: while a long history is read, memory has only a window of its events and the calls of present
// holders.
func TestReadForgets(t *testing.T) {
	const window = 1 << 10
	h := drawn.Crowd{Operations: 20_000, Clients: 20, Slots: 5, Unanswered: 0.001, Evidence: true}.Whole(1)
	c := newCheck(h, 0, Options{}, window)
	for i := range h.Events {
		if err := c.event(&h.Events[i]); err != nil {
			t.Fatal(err)
		}
		if r := &c.normaliser; len(r.at) > window || len(r.calls) > window || r.roll != nil && len(r.roll.kept) > window/4 {
			t.Fatalf("after %d events, %d events, %d calls and %d earlier ones are kept", i+1, len(r.at), len(r.calls), len(r.roll.kept))
		}
	}
	got, err := checkRead(h, source(h), Options{}, window)
	if err != nil || got.Decision != Legal {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestReadOnce: if a history can be read only once and needs a second pass, it is undecided, and the finding says so.
func TestReadOnce(t *testing.T) {
	h := drawn.Crowd{Operations: 2000, Clients: 4, Slots: 2}.Whole(1)
	h.Events = append(h.Events, // removes a slot, which the first pass did not assume
		history.Event{Type: history.Invoke, F: history.F(lock.Remove), Slots: 1},
		history.Event{Type: history.OK, F: history.F(lock.Remove), Slots: 1})
	passes := 0
	once := func(event func(e *history.Event) error) error {
		if passes++; passes > 1 {
			return fmt.Errorf("a pipe: %w", history.ErrOnce)
		}
		return source(h)(event)
	}
	got, err := checkRead(h, once, Options{}, 64)
	if err != nil || passes != 2 || got.Decision != Undecided || !strings.Contains(got.Why, "expected a file") {
		t.Errorf("%d passes: %+v, %v", passes, got, err)
	}
	if got, err = checkRead(h, source(h), Options{}, 64); err != nil || got.Decision != Legal {
		t.Errorf("%+v, %v", got, err)
	}
}
