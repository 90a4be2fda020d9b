package spec

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// FuzzCheck: whatever events a history has, in turn or not, checking it ends without a panic; what is
// no history is refused with the event that is wrong.
func FuzzCheck(f *testing.F) {
	f.Add([]byte("acquire and release"), false)
	f.Add([]byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9}, true)
	f.Fuzz(func(t *testing.T, data []byte, strict bool) {
		h := events(byBytes{&data})
		o := LinearizableOptions{Timeout: oracleTime}
		if strict {
			o.Strength = Strict
		}
		if Validate(h) == nil {
			CheckHistory(h, o)
		} else if CheckLinearizable(h, o).Decision == Legal {
			t.Error("legal, but no history")
		}
	})
}

// events are some that have nothing to do with one another.
func events(c chooser) *History {
	h := &History{Kind: lock.Kind(c.below(3)), Locks: []string{"jobs"}, Slots: []int{c.below(4)}}
	for range c.below(12) {
		e := Event{
			Process: int32(c.below(4)), Type: EventType(c.below(4)), F: F(c.below(int(lock.Wait) + 2)), Slot: uint16(c.below(4)),
			Slots: uint16(c.below(3)), Reason: lock.Reason(c.below(int(lock.Crashed) + 1)), Held: c.below(2) == 1,
		}
		if c.below(5) == 0 {
			e.Process, e.Target, e.Type, e.F = Nemesis, e.Process, Info, Crash+F(c.below(4))
		}
		h.Events = append(h.Events, e)
	}
	return h
}
