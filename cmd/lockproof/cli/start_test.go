package cli

import "testing"

// TestBeginning checks the values of --start: initial slots, or a step of a counterexample. Other values must be
// refused.
func TestBeginning(t *testing.T) {
	for text, want := range map[string]string{
		"slots=1,3": "slots=1,3", "ce.json@12": "ce.json@12", "a@b/ce.json@0": "a@b/ce.json@0",
		"ce.json": "", "ce.json@": "", "ce.json@-1": "", "@3": "", "slots=1@3": "", "slots=": "",
	} {
		var f exploreFlags
		b := beginning{startFlag{&f.Start}, &f.startFile, &f.After}
		err := b.Set(text)
		if (err == nil) != (want != "") || err == nil && b.String() != want {
			t.Errorf("%s: %q, %v", text, b.String(), err)
		}
	}
}
