package ciguard

import (
	"encoding/json"
	"strings"
	"testing"
)

// taken reports whether GitHub, Azure or TeamCity would take a line of a text for a command.
func taken(text string) bool {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") || strings.Contains(line, "##teamcity[") {
			return true
		}
	}
	return false
}

// TestWriter checks that no line remains a command, wherever writes divide it, and that other text is not changed.
func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"::stop-commands::x\n":              `\u003a:stop-commands::x` + "\n",
		"a\n \t\u00a0::error::x\n":          "a\n \t\u00a0" + `\u003a:error::x` + "\n",
		"a\r::error::x":                     "a\r" + `\u003a:error::x`,
		"see ##[error]x and ##vso[task]y":   `see ##\u005berror]x and ##vso\u005btask]y`,
		"###[x] ##teamcity[y] #[z] ## [z]":  `###\u005bx] ##teamcity\u005by] #[z] ## [z]`,
		"a::b: c [d] #e\n  ✗ violated  x:y": "a::b: c [d] #e\n  ✗ violated  x:y",
	} {
		for size := 1; size <= len(text); size++ {
			var b strings.Builder
			w := NewWriter(&b)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := w.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if b.String() != want || taken(b.String()) {
				t.Errorf("%q in pieces of %d: %q, expected %q", text, size, b.String(), want)
			}
		}
	}
}

// TestCommands checks that text written to Commands remains a command.
func TestCommands(t *testing.T) {
	var b strings.Builder
	for _, w := range []interface{ Write([]byte) (int, error) }{NewWriter(&b), &b} {
		if _, err := Commands(w).Write([]byte("::error::x\n")); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != "::error::x\n::error::x\n" {
		t.Errorf("%q", b.String())
	}
}

// FuzzWriter checks that no line of any text remains a command, and that JSON text keeps its meaning.
func FuzzWriter(f *testing.F) {
	for _, text := range []string{"::stop-commands::x", "##[error]", "##vso[x]", `{"a":"##[x]::"}`, "\u2003::x", "\r::"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		if _, err := NewWriter(&b).Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if taken(b.String()) {
			t.Errorf("%q: %q", text, b.String())
		}
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		if _, err := NewWriter(&b).Write(data); err != nil {
			t.Fatal(err)
		}
		var again string
		if err := json.Unmarshal([]byte(b.String()), &again); err != nil || again != strings.ToValidUTF8(text, "\ufffd") && again != string([]rune(text)) {
			t.Errorf("%q: %q, %v", text, b.String(), err)
		}
	})
}
