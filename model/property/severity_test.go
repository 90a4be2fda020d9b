package property

import (
	"slices"
	"testing"
)

// TestBySeverity: severity has every property once, and mutual-exclusion first.
func TestBySeverity(t *testing.T) {
	all := Set(1<<Count - 1).BySeverity()
	if all[0] != MutualExclusion {
		t.Errorf("the gravest is %s", all[0])
	}
	for p := range Count {
		if !slices.Contains(all, p) {
			t.Errorf("%s has no place", p)
		}
	}
	if got := Set(0).With(NoLeak).With(HonestVerify).BySeverity(); !slices.Equal(got, []Property{HonestVerify, NoLeak}) {
		t.Errorf("got %v", got)
	}
}
