package queue_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/property"
)

// TestGuided checks a guided campaign. The choice of shards must not depend on the number of workers. The guided share
// must be as configured, and the report must list the narrower spaces.
func TestGuided(t *testing.T) {
	many(t)
	var first string
	for _, workers := range []int{1, 3} {
		p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "guided", "target": {"name": "retries-forever"},
			"sample": {"guided": 0.5, "generation": 8}, "budget": {"executions": 3200}, "shard": 50}`)
		out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		r := out.Result.Report
		if r.Scenarios != 3200 || len(r.Guided) < 2 || !strings.HasPrefix(r.Guided[0], "1600 of 3200 executions") {
			t.Fatalf("of %d executions: %q", r.Scenarios, r.Guided)
		}
		got := enginetest.Card(t, out.Result)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%d workers come to\n%s\none to\n%s", workers, got, first)
		}
	}
	for _, said := range []string{"guided", "covered", "states of the broker"} {
		if !strings.Contains(first, said) {
			t.Errorf("the card does not tell of %q:\n%s", said, first)
		}
	}
}

// TestGuidedFinds checks that a violation first seen in a narrower space is reported with that space's seed.
func TestGuidedFinds(t *testing.T) {
	many(t)
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "guided", "target": {"name": "retries-forever"},
		"sample": {"guided": 0.9, "generation": 4, "properties": ["progress"]}, "budget": {"executions": 4000}, "shard": 20, "stop": {"violation": ["progress"]}}`)
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	found := out.Result.Report.Result(property.Progress).Violation
	if found == nil {
		t.Fatal("progress is not violated")
	}
	for _, ce := range out.Result.Counterexamples("") {
		if found.Seed != 0 && ce.Origin.Seed != found.Seed {
			t.Errorf("the card says seed %d, the counterexample %d", found.Seed, ce.Origin.Seed)
		}
	}
}

// TestMutants checks that a campaign finds the bugs of mutants in as many scenarios as a single machine.
func TestMutants(t *testing.T) {
	many(t)
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "mutants", "mutants": {"only": ["retries-forever", "locked-is-full", "reconnects"]},
		"budget": {"executions": 100000}, "shard": 256}`)
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Mutants.Killed) != 3 {
		t.Fatalf("%d mutants, expected 3", len(out.Mutants.Killed))
	}
	for _, got := range out.Mutants.Killed {
		want, err := sample.Kill(t.Context(), got.Mutant, 1, 100000)
		if err != nil {
			t.Fatal(err)
		}
		if got.Scenarios != want.Scenarios || len(got.Trace.Steps) != len(want.Trace.Steps) || len(got.Also) != len(want.Also) {
			t.Errorf("%s: %d scenarios, %d steps, also %v; one machine says %d, %d, %v", got.Mutant.Name, got.Scenarios, len(got.Trace.Steps), got.Also,
				want.Scenarios, len(want.Trace.Steps), want.Also)
		}
	}
}
