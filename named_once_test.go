package lockproof_test

import (
	"testing"

	"github.com/lockproof/lockproof"
)

// The detail of a counterexample that was read from a file names each client once.
func TestNamedOnce(t *testing.T) {
	for file, want := range map[string]string{
		"remove-one-more.contiguous-slots": "c1: there are more or fewer slots than administered",
		"verify-twice.cheap-verify":        "c1's verify took 2 round trips, at most 1 allowed",
	} {
		c, err := lockproof.LoadCounterexample("testdata/counterexamples/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if c.Detail != want {
			t.Errorf("%s: %q, expected %q", file, c.Detail, want)
		}
	}
}
