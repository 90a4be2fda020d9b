package histories_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// TestPlainAnswers: an answer may be a plain yes or no instead of a map with held, and means the same.
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
