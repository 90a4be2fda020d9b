package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestCounterexamples replays the files in testdata/counterexamples, one for each mutant. Each execution must still
// violate, at its last step, the property that the mutant breaks. With -rewrite the test searches for the executions
// again and writes the files.
func TestCounterexamples(t *testing.T) {
	for _, m := range engine.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			p, err := property.Named(m.Breaks)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("..", "..", "testdata", "counterexamples", m.Backend, histories.FileName(p, m.Name))
			if pinned.Rewriting() {
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

// find searches for a mutant's counterexample, beginning with the first seed, and writes it to a file.
func find(t *testing.T, m *lock.Target, p property.Property, file string) {
	res, err := sample.Prove(t.Context(), sample.Config{
		Target: m, Sampling: engine.Sampling{Seed: 1, Scenarios: sample.MutantLimit, Until: property.Set(0).With(p)},
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
