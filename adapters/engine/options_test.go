package engine_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/model/lock"
)

// TestOptionsTakeEffect: whatever value of an option is asked for, a target is judged with it or refuses it by name.
func TestOptionsTakeEffect(t *testing.T) {
	refused := 0
	for _, target := range engine.Targets() {
		defaults := lock.BackendOf(target).Defaults
		for _, option := range defaults.Table() {
			for value := range strings.SplitSeq(option.Values, "|") {
				asked, err := defaults.With(option.Name, value)
				if err != nil {
					continue // a range of numbers
				}
				o, err := engine.OptionsOf(target, [][2]string{{option.Name, value}})
				switch {
				case err != nil && strings.Contains(err.Error(), option.Name+"="+value) && strings.Contains(err.Error(), target.Name):
					refused++
				case err != nil:
					t.Errorf("%s with %s=%s: %v", target.Name, option.Name, value, err)
				case o.Value(option.Name) != asked.Value(option.Name):
					t.Errorf("%s is judged with %s=%s instead of %s", target.Name, option.Name, o.Value(option.Name), value)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no target refuses an option: expected what makes a mutant to be fixed")
	}
}
