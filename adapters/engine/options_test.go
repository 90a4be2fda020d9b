package engine_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/model/lock"
)

// TestOptionsTakeEffect sets every option of every target to several values. The target must either run with that
// value, or refuse it with an error that names the option, the value and the target.
func TestOptionsTakeEffect(t *testing.T) {
	refused := 0
	for _, target := range engine.Targets() {
		defaults := lock.BackendOf(target).Defaults
		for _, option := range defaults.Table() {
			for _, value := range valuesOf(option) {
				asked, err := defaults.With(option.Name, value)
				if err != nil {
					t.Errorf("%s of %s cannot be %s, which is among %s: %v", option.Name, target.Name, value, option.Values, err)
					continue
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

// valuesOf returns the values to try for an option. For a range of numbers these are the first two, one in the middle,
// and the last.
func valuesOf(o lock.Option) (all []string) {
	for value := range strings.SplitSeq(o.Values, "|") {
		first, last, ranging := strings.Cut(value, "-")
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if !ranging || err != nil || err2 != nil { // a hyphen within a word is no range
			all = append(all, value)
			continue
		}
		for _, n := range []int{from, from + 1, (from + to) / 2, to} {
			all = append(all, strconv.Itoa(n))
		}
	}
	return all
}
