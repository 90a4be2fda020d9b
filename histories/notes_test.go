package histories

import "testing"

// TestNotes: each count of skipped parts is described in words; without skipped parts the text is empty.
func TestNotes(t *testing.T) {
	for want, notes := range map[string]Notes{
		"":                               {},
		"1 event of the nemesis ignored": {Ignored: 1},
		"2 errors not understood: such a failure has no known reason; 1 value without a slot: such an event may be of any slot": {Unexplained: 2, Values: 1},
	} {
		if got := notes.String(); got != want {
			t.Errorf("%+v: %q, expected %q", notes, got, want)
		}
	}
}
