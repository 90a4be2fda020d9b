package pinned

import (
	"fmt"
	"strings"
	"testing"
)

// squares returns a table for a few inputs. The result for input odd is changed.
func squares(t *testing.T, odd int) string {
	f := New(t)
	f.Block("squares", 200, func(i int, s *Seen) {
		s.Count([]string{"even", "odd"}[i%2])
		if i == odd {
			s.Printf("and a half")
		}
		s.Printf("the square of %d is %d", i, i*i)
	})
	f.Block("remainders", 20, func(i int, s *Seen) {
		if i < 3 {
			s.Rowf("%d: %d", i, i%3)
		}
		if i == odd {
			s.Same(fmt.Sprint(i), "none")
		} else {
			s.Same(fmt.Sprint(i), fmt.Sprintf("leaves %d", i/4%3))
		}
	})
	return f.text.String()
}

// A table shows its counts and rows.
func TestTable(t *testing.T) {
	const want = `squares: 200 inputs, 100 even, 100 odd; DIGEST
remainders: 20 inputs
  0: 0
  1: 1
  2: 2
  leaves 0 ← 0…3 12…15
  leaves 1 ← 4…7 16…19
  leaves 2 ← 8…11
`
	got := squares(t, -1)
	digest := strings.TrimPrefix(strings.SplitN(got, "\n", 2)[0], "squares: 200 inputs, 100 even, 100 odd; ")
	if got = strings.Replace(got, digest, "DIGEST", 1); got != want || len(digest) != 16 {
		t.Error(Difference(want, got))
	}
}

// Every change of one input's result changes the digest. A changed row is shown old and new.
func TestChangesAreNoticed(t *testing.T) {
	right := squares(t, -1)
	seen := map[string]int{right: -1}
	for odd := range 200 {
		wrong := squares(t, odd)
		if other, ok := seen[wrong]; ok {
			t.Errorf("inputs %d and %d: the same table", odd, other)
		}
		seen[wrong] = odd
		if Difference(right, wrong) == "" {
			t.Errorf("input %d: no difference shown", odd)
		}
	}
	got := Difference(right, squares(t, 7))
	for _, line := range []string{
		"-squares: 200 inputs, 100 even, 100 odd; ", "+squares: 200 inputs, 100 even, 100 odd; ",
		"-  leaves 1 ← 4…7 16…19\n+  leaves 1 ← 4…6 16…19\n", "\n+  none ← 7",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not part of\n%s", line, got)
		}
	}
	if strings.Contains(got, "leaves 0") {
		t.Errorf("lines that are equal are shown:\n%s", got)
	}
}

// The digest also changes if text moves from one input to the next.
func TestDigestSeparatesInputs(t *testing.T) {
	split := func(at int) string {
		f := New(t)
		f.Block("two", 2, func(i int, s *Seen) { s.Printf("%s", []string{"abcd"[:at], "abcd"[at:]}[i]) })
		return f.text.String()
	}
	if split(1) == split(2) {
		t.Error("the digest does not separate inputs")
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"a\nb\nc", "a\nb\nc", ""},
		{"a\nb\nc", "a\nx\nc", "@ line 2\n-b\n+x"},
		{"a\nb\nc\nd\ne", "a\nc\nd\nx\ne", "@ line 2\n-b\n@ line 4\n+x"},
		{"", "a", "@ line 1\n-\n+a"},
		{"a\nb", "a", "@ line 2\n-b"},
		{strings.Repeat("a\n", 3000), strings.Repeat("b\n", 3000), ""}, // too long to compute common lines
	} {
		got := Difference(c.was, c.is)
		if c.want == "" && c.was != c.is {
			if !strings.HasPrefix(got, "@ line 1\n-a\n") || strings.Count(got, "\n") != mostLines {
				t.Errorf("of a long text: %s", got)
			}
		} else if got != c.want {
			t.Errorf("%q, %q: got\n%s\nwant\n%s", c.was, c.is, got, c.want)
		}
	}
	if long := Difference("a", strings.Repeat("x", 2000)); len(long) > 2*mostLineBytes {
		t.Error(len(long), "bytes of a line are shown")
	}
}
