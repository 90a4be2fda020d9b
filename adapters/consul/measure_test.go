package consul

import (
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/model/lock"
	_ "github.com/lockproof/lockproof/sim/consul"
)

// TestMeasured: the reference lock's operations have the right results over HTTP, on the simulated server and on a
// real agent. When all clients are closed, nothing is left on the server.
func TestMeasured(t *testing.T) {
	t.Run("simulated", func(t *testing.T) {
		s := new(Server)
		served := httptest.NewServer(s)
		defer served.Close()
		a, err := newAgent(served.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		measureOne(t, a)
		if left := len(s.store.Under("")) + len(s.store.Sessions()); left > 0 {
			t.Errorf("%d keys and sessions are left behind", left)
		}
	})
	t.Run("real", func(t *testing.T) {
		if os.Getenv(EnvAddress) == "" {
			t.Skip(ErrNoAgent)
		}
		a, err := Find(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		measureOne(t, a)
	})
}

func measureOne(t *testing.T, a *Agent) {
	b, err := lock.BackendNamed("consul")
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Measured().Lock(t.Context(), b.References[0], time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var clients []measure.Client
	for n := range 2 {
		c, err := l.Client(t.Context(), n+1)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	if l.Lease() != 20*time.Second {
		t.Errorf("the lease is %v", l.Lease())
	}
	for _, s := range []struct {
		by   int
		op   lock.Op
		held bool
	}{
		{0, lock.Acquire, true}, {1, lock.Acquire, false}, {0, lock.Verify, true}, {0, lock.Release, false},
		{1, lock.Acquire, true}, {1, lock.Release, false}, {0, lock.Acquire, true},
	} {
		before := clients[s.by].Spent()
		r, err := clients[s.by].Do(t.Context(), s.op)
		if err != nil || r.Held != s.held {
			t.Fatalf("client %d, %v: %+v, %v", s.by, s.op, r, err)
		}
		if spent := clients[s.by].Spent(); spent.Commands == before.Commands || spent.Sent == before.Sent || spent.Received == before.Received {
			t.Errorf("client %d, %v: took %+v, and before that %+v", s.by, s.op, spent, before)
		}
	}
	for _, c := range clients {
		c.Close()
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestFind: if no agent answers, the error says which address was tried, and what to do.
func TestFind(t *testing.T) {
	if _, err := Find(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("an agent where nobody listens")
	} else {
		t.Log(err)
	}
	for _, address := range []string{"://", "http://"} {
		if _, err := Find(t.Context(), address); err == nil {
			t.Errorf("an agent at %q", address)
		}
	}
}
