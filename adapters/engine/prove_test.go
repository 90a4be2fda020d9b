package engine_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

var rewrite = flag.Bool("rewrite", false, "find the counterexamples in testdata again and write them")

// TestReferenceHolds: every property of every reference lock is put to the test and holds.
func TestReferenceHolds(t *testing.T) {
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			res, err := engine.Prove(t.Context(), engine.Config{Target: target, Scenarios: 20_000, Seed: 7})
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

// TestDeterminism: the same configuration gives the same report and the same counterexamples, with
// however many workers.
func TestDeterminism(t *testing.T) {
	var before []byte
	for _, workers := range []int{1, 2, 5} {
		res, err := engine.Prove(t.Context(), engine.Config{
			Target: target(t, "locked-is-success"), Scenarios: 3000, Seed: 3, Workers: workers,
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

// TestUntil: a run that ends at the first violation has run the same with however many workers, and judges no more than
// it is asked to.
func TestUntil(t *testing.T) {
	asked := property.Set(0).With(property.MutualExclusion).With(property.CheapAcquire).With(property.NoLeak)
	var before string
	for _, workers := range []int{1, 2, 5} {
		res, err := engine.Prove(t.Context(), engine.Config{
			Target: target(t, "locked-is-success"), Scenarios: 20_000, Seed: 3, Workers: workers, Properties: asked, Until: asked,
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

// TestOptionsTogether: options that cannot be had together are refused before anything is run.
func TestOptionsTogether(t *testing.T) {
	both := [][2]string{{"overflow", "reject-publish"}, {"confirm", "transactions"}}
	const want = "overflow=reject-publish and confirm=transactions"
	if _, err := engine.Prove(t.Context(), engine.Config{Options: both}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("prove: %v", err)
	}
	explore := engine.Exploration{Options: both, Clients: 1, Rounds: 1, Slots: 1}
	if _, err := engine.Explore(t.Context(), explore); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("explore: %v", err)
	}
}

// TestInterrupted: what was found until then is kept, and said to be incomplete.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := engine.Prove(ctx, engine.Config{Progress: func(engine.Progress) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if r := res.Report; !r.Interrupted || r.Scenarios == 0 || r.Scenarios == engine.DefaultScenarios {
		t.Errorf("interrupted %v after %d scenarios", r.Interrupted, r.Scenarios)
	}
}

// TestCounterexamples walks testdata/counterexamples: the shortest execution found of every mutant
// still violates the property that the mutant breaks, at its last step. -rewrite finds them anew.
func TestCounterexamples(t *testing.T) {
	for _, m := range engine.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			p, err := property.Named(m.Breaks)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("..", "..", "testdata", "counterexamples", m.Backend, histories.FileName(p, m.Name))
			if *rewrite {
				find(t, m, p, file)
			}
			ce, err := histories.LoadCounterexample(file)
			if err != nil {
				t.Fatalf("%v (rerun with -rewrite to find it)", err)
			}
			r, err := engine.Replay(ce)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == nil {
				t.Fatalf("%s does not violate %s any more", file, p)
			}
			if got, want := strings.Join(draw.Transcript(r.Trace), "\n"), strings.Join(ce.Transcript, "\n"); got != want {
				t.Errorf("replayed:\n%s\nwritten:\n%s", got, want)
			}
			if cause := draw.Cause(r.Trace, *r.Violation); m.Backend != "" && (cause == "" || strings.Contains(cause, "declared exclusive")) {
				t.Errorf("the cause is told of AMQP's exclusive queues: %s", cause)
			}
		})
	}
}

// find looks for a mutant's counterexample from the first seed and writes it.
func find(t *testing.T, m *lock.Target, p property.Property, file string) {
	res, err := engine.Prove(t.Context(), engine.Config{
		Target: m, Seed: 1, Scenarios: engine.MutantLimit, Until: property.Set(0).With(p),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, ce := range res.Counterexamples(fmt.Sprintf("lockproof mutants %s", m.Name)) {
		if ce.Property != p {
			continue
		}
		if err := ce.Save(file); err != nil {
			t.Fatal(err)
		}
	}
}

func target(t *testing.T, name string) *lock.Target {
	target, err := engine.TargetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}
