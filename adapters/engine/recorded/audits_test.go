package recorded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/property"
)

const audits = "../../../testdata/histories/audits"

// TestAudits judges the histories in testdata/histories/audits. The file "expected" has a line for each history: the
// property that the audit violates ("-" for none), and the beginning of the violation's text. Without the audit no
// violation is found, except those that linearizability shows.
func TestAudits(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(audits, "expected"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		t.Run(words[0], func(t *testing.T) {
			r, err := checkAudit(t, words[0], true)
			if err != nil {
				t.Fatal(err)
			}
			wantViolation(t, r, words[1], strings.Join(words[2:], " "))
			if r, err = checkAudit(t, words[0], false); err != nil {
				t.Fatal(err)
			}
			// Linearizability shows violations of these properties without the audit.
			shown := words[1] == property.MutualExclusion.String() || words[1] == property.ExactCount.String()
			if got := r.Outcome() == report.OutcomeViolated; got != shown {
				t.Errorf("without the audit: %s", r.Outcome())
			}
		})
	}
}

// wantViolation checks that the property is violated and that the violation's text begins with why. The name "-" means
// that no property is violated.
func wantViolation(t *testing.T, r *report.Report, name, why string) {
	t.Helper()
	if name == "-" {
		for _, p := range []property.Property{property.Progress, property.CrashFrees, property.EffectiveRelease} {
			if res := r.Result(p); res.Skip != "" || res.Checked == 0 {
				t.Errorf("%s: %+v", p, res)
			}
		}
		if r.Outcome() != report.OutcomeHolds {
			t.Errorf("%s: %+v", r.Outcome(), r.Properties)
		}
		return
	}
	p, err := property.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Result(p).Violation; v == nil || !strings.HasPrefix(v.Detail, why) {
		t.Errorf("%s: %+v, expected %q", name, r.Result(p), why)
	}
}

func checkAudit(t *testing.T, name string, audit bool) (*report.Report, error) {
	t.Helper()
	path := filepath.Join(audits, name)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	recording, err := histories.NewRecording(file, path, histories.Unnamed)
	if err != nil {
		t.Fatal(err)
	}
	return recorded.CheckRecording(recording, recorded.CheckOptions{Source: path, Audit: audit})
}

// TestNoAudit checks that judging an audit fails if the history does not mark where the audit begins.
func TestNoAudit(t *testing.T) {
	if _, err := checkAudit(t, "no-mark.jsonl", true); !errors.Is(err, judge.ErrNoAudit) || !strings.Contains(err.Error(), "no-mark.jsonl") {
		t.Errorf("%v", err)
	}
}
