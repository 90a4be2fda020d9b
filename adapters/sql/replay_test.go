package databases_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/internal/replaytest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/sql"
)

// server finds a server for a test, or skips the test.
func server(t *testing.T, d sql.Dialect) *databases.Server {
	t.Helper()
	return database(t, d).Server
}

func mutants(t *testing.T, d sql.Dialect) []*lock.Target {
	t.Helper()
	b, err := lock.BackendNamed(d.String())
	if err != nil {
		t.Fatal(err)
	}
	return b.Mutants
}

// The counterexample of every lock with a known bug replays on its server.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			s := server(t, d)
			for _, m := range mutants(t, d) {
				t.Run(m.Name, func(t *testing.T) {
					t.Parallel() // some replays wait for real time to pass
					tr, v := replaytest.Trace(t, m)
					r, err := s.Replay(t.Context(), tr)
					if err != nil {
						t.Fatal(err)
					}
					if !r.Reproduces(v) {
						t.Error(r)
					}
				})
			}
		})
	}
}

// If a server's reply differs from the trace, the replay reports it.
func TestReplayDisagrees(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			s := server(t, d)
			tr, v := replaytest.Trace(t, mutants(t, d)[0])
			for i := range tr.Steps {
				if sent, ok := tr.Steps[i].Payload.(sql.Sent); ok && sent.Command.Verb == sql.Select {
					sent.Reply.Count++
					tr.Steps[i].Payload = sent
					break
				}
			}
			r, err := s.Replay(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			if r.Reproduces(v) || !strings.Contains(r.String(), "expected ") {
				t.Error(r)
			}
		})
	}
}

// again is the maximum number of times that an execution is replayed while its result differs.
const again = 20

// agrees replays an execution until the server's result equals the simulated one, at most again times. The results
// may differ by chance. The simulated server releases several waiting sessions in one step, and the real one in
// sequence. On MariaDB, a session that waits for the first row of a committing transaction may reach the next row
// before that is free, and then keeps its turn there. On PostgreSQL, any of the waiting sessions may be the first. A
// simulated result that never occurs on the real server is a disagreement.
func agrees(t *testing.T, s *databases.Server, tr *scenario.Trace) (r *scenario.Replayed, tries int) {
	for tries = 1; ; tries++ {
		r, err := s.Replay(t.Context(), tr)
		if err != nil {
			t.Fatalf("%s, execution %+v: %v", tr.Scenario.Target, tr.Scenario.Schedule, err)
		}
		if r.Disagreement == "" || tries == again {
			return r, tries
		}
	}
}

// Executions of the reference locks have the same replies on the server, step by step. All faults occur: clients die
// while their commands wait, connections are half-open, replies are lost, leases end.
func TestReplayAny(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			s := server(t, d)
			b, err := lock.BackendNamed(d.String())
			if err != nil {
				t.Fatal(err)
			}
			var runner sim.Runner
			replayed, retried, waited, ghosts := 0, 0, 0, 0
			for _, target := range b.References {
				space := sim.Space{Target: target}
				if d == sql.MariaDB { // MariaDB's NOW() can be set, and SYSDATE() cannot
					space.Fixed = [][2]string{{"clock", "statement"}}
				}
				source := sim.NewSource(space, 1)
				for i := 0; i < *executions; i++ {
					sc := source.Scenario(i)
					tr := runner.Trace(target, &sc, property.Weak)
					r, tries := agrees(t, s, tr)
					if r.Skipped != "" {
						continue
					}
					retried += tries - 1
					replayed++
					for _, step := range tr.Steps {
						if sent, ok := step.Payload.(sql.Sent); ok && sent.Reply.Code == sql.Blocked {
							waited++
							if step.Action.Kind.Crash() {
								ghosts++
							}
						}
					}
					if r.Disagreement != "" {
						t.Errorf("%s, execution %d: %v", target.Name, i, r)
					}
				}
			}
			t.Logf("%d executions, %d replayed again, %d commands waited, of %d of which the client died", replayed, retried, waited, ghosts)
		})
	}
}
