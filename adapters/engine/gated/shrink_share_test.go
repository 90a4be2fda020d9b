package gated

import "testing"

// TestTries checks the number of scenarios tried to minimise each counterexample: together about a fifth of a long
// run's executions, and at least 150 each.
func TestTries(t *testing.T) {
	for _, k := range []struct{ executions, counterexamples, want int }{
		{2000, 1, 400}, {2000, 2, 250}, {2000, 10, 150}, {12, 1, 150}, {100_000, 20, 400},
	} {
		if got := triesFor(k.executions, k.counterexamples); got != k.want {
			t.Errorf("%d executions, %d counterexamples: %d tries for each, expected %d", k.executions, k.counterexamples, got, k.want)
		}
	}
}
