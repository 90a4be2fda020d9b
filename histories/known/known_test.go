package known

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories/outfile"
)

const one = "- property: no-leak\n  fingerprint: 0123456789abcdef\n  reason: the vendor mends it\n"

// TestParse: unknown keys, duplicates and wrong values in a file are errors, which name the line.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "# nothing\n": "", "null": "", "[]": "", one: "", one + "  owner: ops\n  expires: 2027-01-31\n": "",
		one + "  colour: red\n": `f:1: key "colour" is not known`, one + one: "f:4: no-leak with fingerprint 0123456789abcdef is there twice",
		one + "  reason: again\n":                     "f:1: reason is there twice",
		"a: b":                                        "f:1: expected a list",
		"- a":                                         "f:1: expected a finding",
		"- [":                                         "f: yaml:",
		one + "---\n[]":                               "f: expected one document",
		strings.Replace(one, "0", "g", 1):             "expected sixteen hexadecimal digits",
		one + "  expires: tomorrow\n":                 `expires "tomorrow": expected a day`,
		one + "  expires: 2027-02-30\n":               `expected a day`,
		one + "  owner: [a]\n":                        "owner: expected a text",
		one + "  owner: \"a\\nb\"\n":                  "owner: expected one line",
		"- property: no-leak\n":                       "expected sixteen",
		"- reason: x\n":                               "expected a property",
		strings.Replace(one, "the", "x: the", 1):      "f: yaml:",
		strings.Repeat("#", maxKnown+1):               "more than",
		strings.Repeat("- a\n", mostKnown+1):          "1001 findings, expected at most 1000",
		one + "  owner: " + strings.Repeat("o", 1001): "at most 1000 bytes",
	} {
		_, err := Parse("f", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, expected %q", text, err, want)
		}
	}
}

// TestAccept: Accept adds a finding, or replaces the finding on the same violation. Everything else in the file stays.
func TestAccept(t *testing.T) {
	at := outfile.Place{Path: filepath.Join(t.TempDir(), FileName)}
	first := Finding{"no-leak", "0123456789abcdef", "x: \"y\" # z", "", ""}
	second := Finding{"progress", "0123456789abcdef", "later", "ops", "2027-01-31"}
	if err := Accept(at, first); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(at.Path)
	if err != nil || !strings.HasPrefix(string(data), head) {
		t.Fatalf("%q, %v", data, err)
	}
	if err := os.WriteFile(at.Path, append(data, "# mine"...), 0o644); err != nil {
		t.Fatal(err)
	}
	renewed := first
	renewed.Reason, renewed.Expires = "for a year", "2028-01-31"
	for _, f := range []Finding{second, renewed} {
		if err := Accept(at, f); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(at.Path)
	if want := (Findings{renewed, second}); err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, %v", all, err)
	}
	data, _ = os.ReadFile(at.Path)
	if text := string(data); !strings.HasPrefix(text, head) || !strings.Contains(text, "# mine") {
		t.Errorf("comments are gone: %s", text)
	}
	if err := os.WriteFile(at.Path, []byte("a: b"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Accept(at, first); err == nil {
		t.Error("a file of something else was written over")
	}
	if err := os.WriteFile(at.Path, []byte("[]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Accept(at, first); err != nil {
		t.Error(err)
	}
	if all, err := Load(at.Path + "x"); all != nil || err != nil {
		t.Errorf("of a missing file: %v, %v", all, err)
	}
}

// TestExpired: a finding is valid up to the end of its last day, in UTC.
func TestExpired(t *testing.T) {
	f := Finding{Expires: "2027-01-31"}
	for text, expired := range map[string]bool{"2027-01-31T23:59:59Z": false, "2027-02-01T00:00:00Z": true, "2027-01-31T23:00:00-02:00": true} {
		now, err := time.Parse(time.RFC3339, text)
		if err != nil || f.Expired(now) != expired {
			t.Errorf("%s: expired: %v, %v", text, !expired, err)
		}
	}
	if (&Finding{}).Expired(time.Now()) {
		t.Error("without a day it expires")
	}
}

// FuzzParse: any file is read, or refused with an error of one line. Each finding that was read can be accepted again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", one, one + "  owner: &a ops\n", "- &a [*a]", "- *a", "a: b", "- <<: {a: b}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Parse("f", data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("an error of two lines: %q", err)
			}
			return
		}
		for _, finding := range all {
			written, err := added("f", data, all, finding)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Parse("f", written); err != nil || !reflect.DeepEqual(again, all) {
				t.Errorf("%q became %q: %v", data, written, err)
			}
		}
	})
}
