package safetext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lockproof/lockproof/histories/safetext"
)

var escapes = map[string]string{
	"":                      "",
	"jobs 1 → “größer”":     "jobs 1 → “größer”",
	`C:\jobs "quoted"`:      `C:\jobs "quoted"`,
	"\x1b[31mred":           `\x1b[31mred`,
	"\x1b]52;c;bHM=\a":      `\x1b]52;c;bHM=\a`,
	"\u009b2J":              `\u009b2J`,
	"a\x9bb":                `a\x9bb`, // a single byte of a C1 control is no UTF-8
	"good\rbad":             `good\rbad`,
	"two\nlines\tof":        `two\nlines\tof`,
	"\x00\x7f\b":            `\x00\x7f\b`,
	"user\u202etxt.exe":     `user\u202etxt.exe`,
	"\u2066\u2069\u200f":    `\u2066\u2069\u200f`,
	"zero\u200bwidth\ufeff": `zero\u200bwidth\ufeff`,
	"line\u2028separator":   `line\u2028separator`,
	"cut \xe2\x82":          `cut \xe2\x82`,
	"tag \U000e0041":        `tag \U000e0041`,
	"known \ufffd, unknown": "known \ufffd, unknown",
	"private \ue000":        `private \ue000`,
}

func TestEscape(t *testing.T) {
	for text, want := range escapes {
		if got := safetext.Escape(text); got != want {
			t.Errorf("Escape(%q) is %q, expected %q", text, got, want)
		}
	}
	if got := safetext.OneLine(" two\n\r\n lines\x1b\tof it "); got != `two lines\x1b of it` {
		t.Errorf("%q", got)
	}
}

// TestWriter: the output is the same however the input is split into writes, and line ends are kept.
func TestWriter(t *testing.T) {
	const text = "größer\r\nein\r\x1b[2J Fortschritt\t→\n\xff\u202eend\n"
	const want = "größer\nein\\r\\x1b[2J Fortschritt\t→\n\\xff\\u202eend\n"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := safetext.NewWriter(&out)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Errorf("in pieces of %d: %q", size, out.String())
		}
	}
}

// shown fails the test if a text contains an unsafe character. The characters in others are allowed.
func shown(t *testing.T, text, others string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("%q is no UTF-8", text)
	}
	for _, r := range text {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs) && !strings.ContainsRune(others, r) {
			t.Fatalf("%q has %U in it", text, r)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for text := range escapes {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		once := safetext.Escape(text)
		shown(t, once, "")
		if twice := safetext.Escape(once); twice != once {
			t.Fatalf("%q, and again %q", once, twice)
		}
		shown(t, safetext.OneLine(text), "")
		var out bytes.Buffer
		w := safetext.NewWriter(&out)
		for rest := []byte(text); len(rest) > 0; {
			n := min(max(1, size&7), len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		shown(t, out.String(), "\n\t")
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		sure, back := safetext.JSON(data), ""
		shown(t, string(sure), "\n\t")
		if err := json.Unmarshal(sure, &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) {
			t.Fatalf("%q came back as %q: %v", text, back, err)
		}
	})
}
