package redis_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/internal/replaytest"
	"github.com/lockproof/lockproof/model/lock"
	model "github.com/lockproof/lockproof/model/redis"
	_ "github.com/lockproof/lockproof/sim/redis"
)

// The counterexample of every lock with a known bug replays on a real Redis.
func TestReplay(t *testing.T) {
	s := redistest.Shared(t)
	b, err := lock.BackendNamed("redis")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range b.Mutants {
		t.Run(m.Name, func(t *testing.T) {
			tr, v := replaytest.Trace(t, m)
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

// If a server's reply differs from the trace, the replay reports it.
func TestReplayDisagrees(t *testing.T) {
	s := redistest.Shared(t)
	tr, v := replaytest.Trace(t, lock.TargetNamed("short-lease"))
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
