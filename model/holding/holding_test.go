package holding_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/holding"
)

// TestParse: declarations are parsed, printed in their normal form, and name the things of a lock and slot.
func TestParse(t *testing.T) {
	for _, test := range []struct {
		typed, is string
		numbered  bool
		third     string // name of the thing for slot 3 of the lock mail
	}{
		{"queue jobs-{slot}", "queue {name}-{slot}", true, "mail-3"},
		{"  message\t{name}.tokens ", "message {name}.tokens", false, "mail.tokens"},
		{"consumer slots/{slot-1}/of/jobs", "consumer slots/{slot-1}/of/{name}", true, "slots/2/of/mail"},
		{"absent jobs for jobs", "absent {name} for jobs", false, "mail for jobs"},
		{"queue {{jobs}}.{slot}", "queue {{{name}}}.{slot}", true, "{mail}.3"},
		{"queue {name} of jobs {{slot}}", "queue {name} of jobs {{slot}}", false, "mail of jobs {slot}"},
	} {
		d, err := holding.Parse(test.typed)
		if err != nil {
			t.Errorf("%q: %v", test.typed, err)
			continue
		}
		if d.String() != test.is || d.Numbered() != test.numbered || d.Named("mail", 3) != test.third {
			t.Errorf("%q: %q, numbered %t, called %q", test.typed, d, d.Numbered(), d.Named("mail", 3))
		}
	}
	if d, err := holding.Parse(" "); err != nil || d != (holding.Declared{}) || d.String() != "" {
		t.Errorf("nothing: %q, %v", d, err)
	}
}

// TestParseRefuses: the error for an invalid declaration says what is wrong, and what to write instead.
func TestParseRefuses(t *testing.T) {
	for typed, why := range map[string]string{
		"jobs-{slot}":                           `"jobs-{slot}" is none of queue, message, absent and consumer`,
		"queue":                                 "say what the queue is called, such as queue jobs-{slot}",
		"queue locks":                           "expected the lock's name in it, as {name}, or as jobs",
		"queue {{name}}":                        "expected the lock's name in it",
		"queue jobs-{n}":                        "{n} is none of {name}, {slot} and {slot-1}: braces of the name itself are doubled",
		"queue jobs}":                           "} is none of",
		"queue jobs\x07":                        "a control character",
		"queue jobs" + strings.Repeat("-", 252): "a name of 256 bytes: expected at most 255",
	} {
		if d, err := holding.Parse(typed); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, %v; expected %s", typed, d, err, why)
		}
	}
}

// FuzzParse: a declaration that Parse accepts is printed so that Parse reads it again. Things of different locks, and
// of different slots if numbered, have different names.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"queue jobs-{slot}", "message {name}", "absent {{jobs}}", "consumer slots/{slot-1}/of/{name}", "queue", "queue {"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		d, err := holding.Parse(typed)
		if err != nil || d == (holding.Declared{}) {
			return
		}
		again, err := holding.Parse(d.String())
		if err != nil || again != d {
			t.Errorf("%q is %q, and that is %q: %v", typed, d, again, err)
		}
		if a, b := d.Named("jobs", 1), d.Named("mail", 1); a == b {
			t.Errorf("%q: two locks have %q", typed, a)
		}
		if a, b := d.Named("jobs", 1), d.Named("jobs", 2); (a == b) == d.Numbered() {
			t.Errorf("%q: two slots have %q and %q", typed, a, b)
		}
	})
}
