package consul

import (
	"flag"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/replaytest"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/consul"
)

// clientOf returns an [Agent] for the server of a test.
func clientOf(t *testing.T, a *agent) *Agent {
	t.Helper()
	client, err := newAgent(a.url, new(net.Dialer).DialContext)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The counterexample of every lock with a known bug replays with equal replies, on the simulated server and on a real
// agent.
func TestReplay(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		real := clientOf(t, a)
		b, err := lock.BackendNamed("consul")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range b.Mutants {
			t.Run(m.Name, func(t *testing.T) {
				tr, v := replaytest.Trace(t, m)
				r, err := real.Replay(t.Context(), tr)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Reproduces(v) {
					t.Error(r)
				}
			})
		}
		if status, left := a.ask("GET", "/v1/kv/lockproof.?recurse", ""); status != 404 {
			t.Errorf("%s is left", left)
		}
	})
}

// If an agent's reply differs from the trace, the replay reports it.
func TestReplayDisagrees(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		real := clientOf(t, a)
		tr, v := replaytest.Trace(t, lock.TargetNamed("consul-blind-put"))
		for i := range tr.Steps {
			if sent, ok := tr.Steps[i].Payload.(consul.Sent); ok && sent.Request.Method == consul.Put {
				sent.Reply.OK = false
				tr.Steps[i].Payload = sent
				break
			}
		}
		r, err := real.Replay(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		if r.Reproduces(v) || !strings.Contains(r.String(), "expected false, got true") {
			t.Error(r)
		}
	})
}

// A replay works if one session's name in the trace is a prefix of another's, or is reused after the session has
// ended.
func TestSessionsRenamed(t *testing.T) {
	p := newReplayer(new(space))
	p.call("c1-1", "aaaa")
	p.call("c1-10", "bbbb")
	p.call("c1-1", "cccc")
	there := p.there(&consul.Request{Key: "x/c1-10", Value: `["c1-1","c1-10"]`, Acquire: "c1-1"})
	if there.Key != p.mark+"x/bbbb" || there.Value != `["cccc","bbbb"]` || there.Acquire != "cccc" {
		t.Errorf("the agent is sent %+v", there)
	}
	here := p.here(consul.Reply{Entries: []consul.Entry{{Key: there.Key, Value: there.Value, Session: "bbbb"}}})
	if e := here.Entries[0]; e.Key != "x/c1-10" || e.Value != `["c1-1","c1-10"]` || e.Session != "c1-10" {
		t.Errorf("the trace is told %+v", e)
	}
}

var replayed = flag.Int("replayed", 20, "how many sampled executions of each lock on Consul are carried out on an agent")

// Sampled executions, with every fault except restarts of the server, have the same replies on an agent.
func TestReplaySampled(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		real := clientOf(t, a)
		b, err := lock.BackendNamed("consul")
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range slices.Concat(b.References, b.Mutants) {
			source, carried := sim.NewSource(sim.Space{Target: target}, 1), 0
			for i := range *replayed {
				s := source.Scenario(i)
				r, err := real.Replay(t.Context(), new(sim.Runner).Trace(target, &s, property.Weak))
				if err != nil {
					t.Fatal(err)
				}
				if r.Skipped == "" {
					carried++
				}
				if r.Disagreement != "" {
					t.Errorf("%s, execution %d: %s", target.Name, i, r)
				}
			}
			if carried == 0 {
				t.Errorf("%s: nothing was carried out", target.Name)
			}
		}
	})
}
