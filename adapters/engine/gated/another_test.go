package gated_test

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestKnownGivesWay checks a run whose first violation is a known one. It must report an unknown violation of the same
// property instead. It may report a known violation only if all executions that it compared show known ones.
func TestKnownGivesWay(t *testing.T) {
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		t.Fatal(err)
	}
	set := property.Set(0).With(property.MutualExclusion)
	for name, prove := range map[string]func(known.Findings) (*engine.Result, error){
		"simulated": func(f known.Findings) (*engine.Result, error) {
			return sample.Prove(t.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Seed: 1, Scenarios: 3000, Until: set, Known: f}, Judging: engine.Judging{Properties: set}})
		},
		"gated": func(f known.Findings) (*engine.Result, error) {
			starter := foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}
			return gated.Prove(t.Context(), gated.Config{
				Lock: gated.Lock{Starter: starter, Kind: lock.Semaphore}, Sampling: engine.Sampling{Seed: 1, Scenarios: 60, Workers: 1, Until: set, Known: f}, Judging: engine.Judging{Properties: set},
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "gated" && testing.Short() {
				t.Skip("clients behind the gate take ten seconds")
			}
			var findings known.Findings
			for {
				res, err := prove(findings)
				if err != nil {
					t.Fatal(err)
				}
				res.Accept(findings, time.Now())
				v := res.Report.Result(property.MutualExclusion).Violation
				if v == nil {
					t.Fatal("no violation was found")
				}
				if v.Known != nil {
					if len(findings) < 2 || v.Compared < 2 {
						t.Errorf("%d findings hide all others; %d executions were compared with them", len(findings), v.Compared)
					}
					return
				}
				findings = append(findings, known.Finding{Property: "mutual-exclusion", Fingerprint: v.Fingerprint, Reason: "ticket 17"})
			}
		})
	}
}
