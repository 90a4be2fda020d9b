package safetext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/safetext"
)

// TestCut: a short text is unchanged. A long text is shown by its beginning, its end and its length.
func TestCut(t *testing.T) {
	for _, text := range []string{"", "--slots x: expected 1", strings.Repeat("word ", 200), strings.Repeat("ö", 400)} {
		if got := safetext.Cut(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{strings.Repeat("ö", 70000), "before " + strings.Repeat("x", 70000) + " after", strings.Repeat("word ", 70000)} {
		got := safetext.Cut(text)
		if n := utf8.RuneCountInString(got); n > 5000 || !utf8.ValidString(got) || !strings.Contains(got, " characters)") || got[:4] != text[:4] || got[len(got)-4:] != text[len(text)-4:] {
			t.Errorf("%d characters: %.50s", n, got)
		}
	}
}
