package sample_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestOmitted checks that a property which does not apply to a backend's locks is reported as skipped, with the
// backend's reason. If a run names the properties to judge, the report omits all others.
func TestOmitted(t *testing.T) {
	tried := 0
	for _, b := range lock.Backends() {
		for _, target := range b.References {
			skipped := property.Skipped(target)
			if len(skipped) == 0 {
				continue
			}
			for _, asked := range []property.Set{0, 1 << property.MutualExclusion} {
				res, err := sample.Prove(t.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Scenarios: 20}, Judging: engine.Judging{Properties: asked}})
				if err != nil {
					t.Fatal(err)
				}
				tried++
				for p, why := range skipped {
					if !property.Applicable(target.Kind).Has(p) {
						continue
					}
					r := res.Report.Result(p)
					switch {
					case asked != 0 && r != nil:
						t.Errorf("%s, where only mutual-exclusion was asked for: %s is told of", target.Name, p)
					case asked == 0 && r == nil:
						t.Errorf("%s: nothing is said of %s", target.Name, p)
					case asked == 0:
						if v, said := res.Report.Verdict(r); v != report.Skipped || said != why {
							t.Errorf("%s: %s is %s, %q; expected skipped, %q", target.Name, p, v, said, why)
						}
					}
				}
			}
		}
	}
	if tried == 0 {
		t.Skip("skipped: no backend's locks skip a property")
	}
}
