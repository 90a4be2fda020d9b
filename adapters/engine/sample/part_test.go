package sample_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/property"
)

// written writes a part as JSON and reads it again.
func written(t *testing.T, p *sample.Part) *sample.Part {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	read := new(sample.Part)
	if err := json.Unmarshal(data, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// TestPartsAddUp checks that parts which were written, read and merged in any order give the report of the whole run.
func TestPartsAddUp(t *testing.T) {
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		t.Fatal(err)
	}
	c := sample.Config{Target: target, Sampling: engine.Sampling{Seed: 7, Scenarios: 1100}}
	whole, err := sample.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	cuts := []int{0, 1, 256, 300, 700, 1099, 1100}
	for range 3 {
		sum := new(sample.Part)
		for _, i := range rand.Perm(len(cuts) - 1) {
			p, err := sample.ProvePart(t.Context(), c, cuts[i], cuts[i+1])
			if err != nil {
				t.Fatal(err)
			}
			sum.Merge(written(t, p))
		}
		res, err := sample.Conclude(t.Context(), sample.Drawn{Config: c, Part: sum})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := enginetest.Card(t, res), enginetest.Card(t, whole); got != want {
			t.Fatalf("parts come to\n%s\nthe whole run to\n%s", got, want)
		}
	}
}

// TestPartsEnd checks runs that stop at a violation. Parts that begin at multiples of PartUnit must end at the same
// scenario as the whole run.
func TestPartsEnd(t *testing.T) {
	target, err := engine.TargetNamed("retries-forever")
	if err != nil {
		t.Fatal(err)
	}
	c := sample.Config{Target: target, Sampling: engine.Sampling{Seed: 3, Scenarios: 4 * sample.PartUnit, Until: property.Set(0).With(property.Progress)}}
	whole, err := sample.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum := new(sample.Part)
	for from := 0; sum.Violated()&c.Until == 0 && from < c.Scenarios; from += 2 * sample.PartUnit {
		p, err := sample.ProvePart(t.Context(), c, from, from+2*sample.PartUnit)
		if err != nil {
			t.Fatal(err)
		}
		sum.Merge(p)
	}
	res, err := sample.Conclude(t.Context(), sample.Drawn{Config: c, Part: sum})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := enginetest.Card(t, res), enginetest.Card(t, whole); got != want {
		t.Fatalf("parts come to\n%s\nthe whole run to\n%s", got, want)
	}
}

// TestCoverageDoesNotDependOnParts checks that the covered points, and the first scenario that reaches each, do not
// depend on the number of workers and parts.
func TestCoverageDoesNotDependOnParts(t *testing.T) {
	c := sample.Config{Sampling: engine.Sampling{Seed: 5, Workers: 1}, Coverage: true}
	whole, err := sample.ProvePart(t.Context(), c, 0, 900)
	if err != nil {
		t.Fatal(err)
	}
	sum := new(sample.Part)
	for _, cut := range [][2]int{{512, 900}, {0, 512}} {
		c.Workers = 3
		p, err := sample.ProvePart(t.Context(), c, cut[0], cut[1])
		if err != nil {
			t.Fatal(err)
		}
		sum.Merge(written(t, p))
	}
	pairs, states := 0, 0
	for point := range whole.Covered() {
		if point.IsState() {
			states++
		} else {
			pairs++
		}
	}
	if pairs < 100 || states < 10 {
		t.Errorf("%d pairs of commands and %d states of the broker: expected more", pairs, states)
	}
	if !maps.Equal(sum.Covered(), whole.Covered()) {
		t.Errorf("two parts cover %d points, the whole %d, or first by others", len(sum.Covered()), len(whole.Covered()))
	}
}

// TestConcludeFollows checks that a violation first seen in further scenarios is reported with their seed.
func TestConcludeFollows(t *testing.T) {
	target, err := engine.TargetNamed("retries-forever")
	if err != nil {
		t.Fatal(err)
	}
	draw := func(seed uint64, n int) sample.Drawn {
		c := sample.Config{Target: target, Sampling: engine.Sampling{Seed: seed}}
		p, err := sample.ProvePart(t.Context(), c, 0, n)
		if err != nil {
			t.Fatal(err)
		}
		return sample.Drawn{Config: c, Part: p}
	}
	main, further := draw(1, 2), draw(77, 600)
	res, err := sample.Conclude(t.Context(), main, further)
	if err != nil {
		t.Fatal(err)
	}
	found := res.Report.Result(property.Progress).Violation
	if found == nil || found.Seed != 77 || res.Report.Scenarios != 602 {
		t.Fatalf("%+v in %d scenarios: expected it to be found with seed 77, in 602", found, res.Report.Scenarios)
	}
	for _, ce := range res.Counterexamples("") {
		if ce.Property == property.Progress && ce.Origin.Seed != 77 {
			t.Errorf("the counterexample says that it is of seed %d", ce.Origin.Seed)
		}
	}
}
