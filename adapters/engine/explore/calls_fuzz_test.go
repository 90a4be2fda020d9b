package explore_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/explore"
)

// FuzzCalls parses arbitrary text as calls and as initial slots. An error must be one line of text.
func FuzzCalls(f *testing.F) {
	for _, text := range []string{"acquire,verify,release", "remove:2,add:1", "slots=1,3", "slots=", "acquire:,", "add:99999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, calls := explore.ParseCalls(text)
		_, start := explore.ParseStart(text)
		for _, err := range []error{calls, start} {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
		}
	})
}
