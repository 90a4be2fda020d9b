package style

import (
	"slices"
	"testing"
)

// TestFill: a text that is wider than a line is broken at its blanks. A part without blanks is broken only if it is
// wider than a line.
func TestFill(t *testing.T) {
	for _, test := range []struct {
		words []string
		want  []string
	}{
		{[]string{"a", "bc"}, []string{"a bc"}},
		{[]string{"add 4–17/4–13 · release 1/1"}, []string{"add", "4–17/4–13", "· release", "1/1"}},
		{[]string{"x", "0123456789abc"}, []string{"x", "0123456789", "abc"}},
		{[]string{"  0123456789"}, []string{"  01234567", "89"}},
		{nil, []string{""}},
	} {
		if got := Fill(test.words, " ", 10); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, expected %q", test.words, got, test.want)
		}
	}
}
