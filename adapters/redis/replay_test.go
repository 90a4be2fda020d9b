package redis_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/redis/redistest"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	model "github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/redis"
)

// trace is a mutant's counterexample, carried out in the simulation.
func trace(t *testing.T, target *lock.Target) (*scenario.Trace, scenario.Violation) {
	t.Helper()
	p, err := property.Named(target.Breaks)
	if err != nil {
		t.Fatal(err)
	}
	ce, err := histories.LoadCounterexample(filepath.Join("..", "..", "testdata", "counterexamples", "redis", histories.FileName(p, target.Name)))
	if err != nil {
		t.Fatal(err)
	}
	tr := new(sim.Runner).Trace(target, &ce.Scenario, property.Weak)
	for _, v := range tr.Violations {
		if v.Property == p {
			return tr, v
		}
	}
	t.Fatalf("%s does not break %s", target.Name, p)
	return nil, scenario.Violation{}
}

// Every mutant's counterexample replays on a real Redis: the thief with a shorter lease and the thief that destroys a
// majority among them.
func TestReplay(t *testing.T) {
	s := redistest.Shared(t)
	b, err := lock.BackendNamed("redis")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range b.Mutants {
		t.Run(m.Name, func(t *testing.T) {
			tr, v := trace(t, m)
			r, err := s.Replay(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			if r.Skipped == "" && !r.Reproduces(v) {
				t.Error(r)
			}
		})
	}
}

// A trace that the server does not come to is told from one that it does.
func TestReplayDisagrees(t *testing.T) {
	s := redistest.Shared(t)
	tr, v := trace(t, lock.TargetNamed("short-lease"))
	for i := range tr.Steps {
		if sent, ok := tr.Steps[i].Payload.(model.Sent); ok && sent.Command.Method != model.NoMethod {
			sent.Reply = model.Reply{Class: model.Nil}
			tr.Steps[i].Payload = sent
			break
		}
	}
	r, err := s.Replay(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	if r.Reproduces(v) || !strings.Contains(r.String(), "expected nil, got OK") {
		t.Error(r)
	}
}
