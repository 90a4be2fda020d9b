package histories_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// TestPlainAnswers: an answer may be true or false instead of a map such as {:held true}, with the same meaning.
func TestPlainAnswers(t *testing.T) {
	for _, c := range []struct {
		op, value string
		held      bool
	}{
		{"verify", "true", true},
		{"verify", "false", false},
		{"verify", "{:held true}", true},
		{"verify", "{:held false}", false},
		{"acquire", "nil", true},
		{"acquire", "true", true},
		{"acquire", "false", false},
		{"acquire", "{:held false}", false},
	} {
		text := "{:process 0, :type :invoke, :f :" + c.op + ", :value nil}\n{:process 0, :type :ok, :f :" + c.op + ", :value " + c.value + "}\n"
		h, _, err := histories.ReadHistory(strings.NewReader(text), "plain.edn", histories.Unnamed)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Events[1]; got.Type != history.OK || got.F != history.F(map[string]lock.Op{"verify": lock.Verify, "acquire": lock.Acquire}[c.op]) || got.Held != c.held {
			t.Errorf("%s answers %s: read as %+v, want held %v", c.op, c.value, got, c.held)
		}
	}
}

// TestBlanksAndDiscards: words of JSON may follow blanks. In EDN, up to 64 forms in a row may be discarded by #_, as
// many as may be nested.
func TestBlanksAndDiscards(t *testing.T) {
	const began = `{"index":0,"type":"invoke","process":1,"f":"verify"}` + "\n"
	line := began + `{"index": 1, "type": "ok", "process": 1, "f": "verify", "value": {"held": ` + "\t true}}\n"
	h, _, err := histories.ReadHistory(strings.NewReader(line), "a.jsonl", histories.Unnamed)
	if err != nil || len(h.Events) != 2 || !h.Events[1].Held {
		t.Errorf("%v, %v", h, err)
	}
	for n, fits := range map[int]bool{1: true, 40: true, 64: true, 65: false} {
		text := strings.Repeat("#_ ", n) + strings.Repeat("1 ", n) + "{:process 0, :type :invoke, :f :verify}"
		if _, _, err := histories.ReadHistory(strings.NewReader(text), "a.edn", histories.Unnamed); (err == nil) != fits {
			t.Errorf("%d forms discarded: %v", n, err)
		}
	}
}

// TestRoom: an event of EDN may have 4 MB. Blanks, comments and discarded forms between events do not count.
func TestRoom(t *testing.T) {
	const event, other = "{:process 0, :type :invoke, :f :verify", "{:process 1, :type :invoke, :f :verify}"
	for name, c := range map[string]struct {
		text   string
		events int
	}{
		"blanks":                {event + "}" + strings.Repeat(" \n", 5<<19) + other + strings.Repeat(",", 5<<20), 2},
		"comments":              {strings.Repeat("; nothing\n", 1<<19) + event + "}" + strings.Repeat(";\n", 5<<19) + other, 2},
		"discarded":             {strings.Repeat("#_ :none ", 1<<19) + event + "}", 1},
		"a large event":         {event + strings.Repeat(" ", 4<<20-200) + "}", 1},
		"one that is too large": {event + strings.Repeat(" ", 4<<20+1000) + "}", 0},
		"one discarded":         {"#_ [" + strings.Repeat(" ", 4<<20+1000) + "]" + event + "}", 0},
	} {
		h, _, err := histories.ReadHistory(strings.NewReader(c.text), "large.edn", histories.Unnamed)
		if (err == nil) != (c.events > 0) || err == nil && len(h.Events) != c.events {
			t.Errorf("%s: %v", name, err)
		} else if err != nil && !strings.Contains(err.Error(), "a value of more than 4 MB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
