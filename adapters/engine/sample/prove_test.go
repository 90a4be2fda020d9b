package sample_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestReferenceHolds checks that drawn scenarios test every property of each reference lock, and that none is violated.
func TestReferenceHolds(t *testing.T) {
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			res, err := sample.Prove(t.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Scenarios: 20_000, Seed: 7}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range res.Report.Properties {
				p := &res.Report.Properties[i]
				if verdict, reason := res.Report.Verdict(p); verdict != report.Passed {
					t.Errorf("%s is %s %s", p.Property, verdict, reason)
				}
			}
		})
	}
}

// TestDeterminism checks that the report and the counterexamples do not depend on the number of workers.
func TestDeterminism(t *testing.T) {
	var before []byte
	for _, workers := range []int{1, 2, 5} {
		res, err := sample.Prove(t.Context(), sample.Config{
			Target: target(t, "locked-is-success"), Sampling: engine.Sampling{Scenarios: 3000, Seed: 3, Workers: workers},
		})
		if err != nil {
			t.Fatal(err)
		}
		res.Report.Elapsed = 0
		var out bytes.Buffer
		if err := report.WriteJSON(&out, res.Report); err != nil {
			t.Fatal(err)
		}
		for _, ce := range res.Counterexamples("test") {
			data, err := ce.Encode()
			if err != nil {
				t.Fatal(err)
			}
			out.Write(data)
		}
		if before != nil && !bytes.Equal(before, out.Bytes()) {
			t.Errorf("%d workers find something else", workers)
		}
		before = out.Bytes()
	}
}

// TestUntil checks a run that ends at the first violation. The scenarios that it runs must not depend on the number of
// workers. It must judge only the properties asked for.
func TestUntil(t *testing.T) {
	asked := property.Set(0).With(property.MutualExclusion).With(property.CheapAcquire).With(property.NoLeak)
	var before string
	for _, workers := range []int{1, 2, 5} {
		res, err := sample.Prove(t.Context(), sample.Config{
			Target: target(t, "locked-is-success"), Sampling: engine.Sampling{Scenarios: 20_000, Seed: 3, Workers: workers, Until: asked}, Judging: engine.Judging{Properties: asked},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r := res.Report; r.Scenarios >= 20_000 || len(r.Properties) != 3 || r.Result(property.MutualExclusion).Violation == nil || len(res.Traces) > 3 {
			t.Errorf("%d workers: %d scenarios, %d properties, %d traces", workers, r.Scenarios, len(r.Properties), len(res.Traces))
		}
		res.Report.Elapsed = 0
		var out strings.Builder
		if err := report.WriteJSON(&out, res.Report); err != nil {
			t.Fatal(err)
		}
		if before != "" && before != out.String() {
			t.Errorf("%d workers have run something else", workers)
		}
		before = out.String()
	}
}

// TestOptionsTogether checks that options which exclude each other are refused before anything is run.
func TestOptionsTogether(t *testing.T) {
	both := [][2]string{{"overflow", "reject-publish"}, {"confirm", "transactions"}}
	const want = "overflow=reject-publish and confirm=transactions"
	if _, err := sample.Prove(t.Context(), sample.Config{Options: both}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("prove: %v", err)
	}
	bounds := explore.Exploration{Options: both, Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 1}}
	if _, err := explore.Run(t.Context(), bounds); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("explore: %v", err)
	}
}

// TestInterrupted checks that an interrupted run returns its results so far, and that the report says that the run is
// incomplete.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := sample.Prove(ctx, sample.Config{Progress: func(engine.Progress) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if r := res.Report; !r.Interrupted || r.Scenarios == 0 || r.Scenarios == sample.DefaultScenarios {
		t.Errorf("interrupted %v after %d scenarios", r.Interrupted, r.Scenarios)
	} else if r.Asked != sample.DefaultScenarios {
		t.Errorf("asked for %d executions", r.Asked)
	}
}

func target(t *testing.T, name string) *lock.Target {
	target, err := engine.TargetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}
