package consul

import (
	"net"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/replaytest"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	_ "github.com/lockproof/lockproof/sim/consul"
)

// Every mutant's counterexample replays, on a real agent as well, if there is one.
func TestReplay(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		real, err := newAgent(a.url, new(net.Dialer).DialContext)
		if err != nil {
			t.Fatal(err)
		}
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
		if status, left := a.ask("GET", "/v1/kv/lockproof-?recurse", ""); status != 404 {
			t.Errorf("%s is left", left)
		}
	})
}

// A trace that the agent does not come to is told from one that it does.
func TestReplayDisagrees(t *testing.T) {
	agents(t, func(t *testing.T, a *agent) {
		real, err := newAgent(a.url, new(net.Dialer).DialContext)
		if err != nil {
			t.Fatal(err)
		}
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
