package histories

import (
	"strconv"
	"strings"
	"testing"
)

// TestKeys: values are read as pairs of a key and a value only if every operation has such a pair.
func TestKeys(t *testing.T) {
	const acquired = `{:type :invoke :f :acquire :process 0 :value [1 nil]} {:type :ok :f :acquire :process 0 :value [1 nil]} `
	plain := Unnamed
	plain.PlainValues = true
	for _, test := range []struct {
		name, text string
		header     Header
		locks      string
		values     int // values that are not understood
	}{
		{"two keys", acquired + `{:type :invoke :f :acquire :process 1 :value [:b nil]}`, Unnamed, "key 1, key :b", 0},
		{"an answer without a value", acquired + `{:type :invoke :f :release :process 0 :value ["1" 2]}`, Unnamed, "lock", 3},
		{"a release without an acquire", acquired + `{:type :invoke :f :release :process 0 :value [2 nil]}`, Unnamed, "lock", 3},
		{"an answer about another key", `{:type :invoke :f :acquire :process 0 :value [1 nil]} {:type :ok :f :acquire :process 0 :value [2 nil]}`, Unnamed, "lock", 2},
		{"some are none", acquired + `{:type :invoke :f :release :process 0}`, Unnamed, "lock", 2},
		{"it is said that there are none", acquired, plain, "lock", 2},
		{"a key that is a list", `{:type :invoke :f :acquire :process 0 :value [[1 2] nil]}`, Unnamed, "lock", 1},
		{"no operation", `{:type :info :f :start :process :nemesis :value [1 nil]}`, Unnamed, "lock", 0},
		{"as JSON", `[{"type":"invoke","f":"acquire","process":0,"value":["a",null]},{"type":"fail","f":"acquire","process":0}]`, Unnamed, `key "a"`, 0},
	} {
		h, notes, err := ReadHistory(strings.NewReader(test.text), test.name, test.header)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := strings.Join(h.Locks, ", "); got != test.locks || notes.Values != test.values {
			t.Errorf("%s: locks %s and %d values, expected %s and %d", test.name, got, notes.Values, test.locks, test.values)
		}
		if said := strings.Join(notes.Readings(), ""); strings.Contains(said, "2 keys") != (len(h.Locks) == 2) {
			t.Errorf("%s: read as %q", test.name, said)
		}
	}
	var many strings.Builder
	for i := range maxHistoryLocks + 1 {
		many.WriteString(strings.ReplaceAll(`{:type :invoke :f :acquire :process 0 :value [K nil]} {:type :fail :f :acquire :process 0}`, "K", strconv.Itoa(i)))
	}
	if _, _, err := ReadHistory(strings.NewReader(many.String()), "many", Unnamed); err == nil || !strings.Contains(err.Error(), "1,024") {
		t.Errorf("too many keys: %v", err)
	}
}
