package redis_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/internal/redistest"
	model "github.com/lockproof/lockproof/model/redis"
	simredis "github.com/lockproof/lockproof/sim/redis"
)

// The facts about real servers on which the simulated server relies.

var (
	key    = model.Key{}
	first  = model.NewID(1, 1)
	second = model.NewID(2, 1)
)

// do sends a command about the lock "jobs" and returns the reply.
func do(t *testing.T, s *redis.Space, c model.Command) model.Reply {
	t.Helper()
	r, err := s.Do(t.Context(), c, "jobs")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// space returns a set of keys for one test.
func space(t *testing.T, s *redis.Server) *redis.Space {
	p := s.Space()
	t.Cleanup(func() {
		if err := p.Sweep(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// A lease never ends early, counted from before the command was sent. How late it ends depends on the machine, and is
// not checked (FACTS R1).
func TestLeaseIsNotShort(t *testing.T) {
	const lease = 100
	s := space(t, redistest.Shared(t)).Lasting(time.Millisecond)
	sent := time.Now()
	if r := do(t, s, model.Command{Method: model.SetNX, Key: key, ID: first, Lease: lease}); r.Class != model.OK {
		t.Fatal(r.Words())
	}
	for do(t, s, model.Command{Method: model.SetNX, Key: key, ID: second, Lease: lease}).Class != model.OK {
	}
	if took := time.Since(sent); took < lease*time.Millisecond {
		t.Errorf("granted again after %v of %d ms", took, lease)
	}
}

// A server that stores nothing on disk grants a held lock again after a restart. With an append-only file, the lease
// and its end are kept (FACTS R3, R4).
func TestRestart(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want model.Class
	}{
		{"nothing on disk", []string{"--save", "", "--appendonly", "no"}, model.OK},
		{"append-only file", []string{"--save", "", "--appendonly", "yes", "--appendfsync", "always"}, model.No},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := redistest.Private(t, c.args...)
			s := server.Space()
			do(t, s, model.Command{Method: model.SetNX, Key: key, ID: first, Lease: 50})
			before, err := s.Left(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			after, err := s.Left(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.want == model.No && after["jobs}"] != before["jobs}"] {
				t.Errorf("the lease ends in %v, and would have in %v", after, before)
			}
			if r := do(t, s, model.Command{Method: model.SetNX, Key: key, ID: second, Lease: 50}); r.Class != c.want {
				t.Errorf("after the restart: %s", r.Words())
			}
		})
	}
}

// A client that reads, compares and deletes in three commands may delete the next holder's entry. The script does not
// (FACTS R9).
func TestCompareAndDelete(t *testing.T) {
	for _, atomic := range []bool{false, true} {
		s := space(t, redistest.Shared(t))
		do(t, s, model.Command{Method: model.SetNX, Key: key, ID: first, Lease: 10})
		if r := do(t, s, model.Command{Method: model.Get, Key: key}); !r.Value.Has(first) {
			t.Fatal(r.Words())
		}
		if err := s.Advance(t.Context(), 10); err != nil { // the lease ends between reading and deleting
			t.Fatal(err)
		}
		do(t, s, model.Command{Method: model.SetNX, Key: key, ID: second, Lease: 10})
		m := model.Del
		if atomic {
			m = model.Release
		}
		do(t, s, model.Command{Method: m, Key: key, ID: first})
		if there := do(t, s, model.Command{Method: model.Exists, Key: key}).Class == model.OK; there != atomic {
			t.Errorf("atomic %v: the next holder's entry is there: %v", atomic, there)
		}
	}
}

// If a client dies between SETNX and setting the lease, the key never expires (FACTS R11).
func TestSetThenExpire(t *testing.T) {
	s := space(t, redistest.Shared(t))
	do(t, s, model.Command{Method: model.SetNX, Key: key, ID: first})
	if err := s.Advance(t.Context(), 1_000_000); err != nil {
		t.Fatal(err)
	}
	if r := do(t, s, model.Command{Method: model.PTTL, Key: key}); r.Class != model.Ageless {
		t.Error(r.Words())
	}
}

var rounds = flag.Int("rounds", 20, "how many rounds of 100 clients are played for the length of chains")

// A hundred clients with a hundred priorities acquire a lock in random order. The replies of a real server must equal
// the simulated one's. This test checks the rounds that the atlas plays. Another test, with enough rounds, compares
// the mean result with the calculated one.
func TestChains(t *testing.T) {
	real := redistest.Shared(t)
	said, err := real.Chains(t.Context(), *rounds)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(said)
	sum, longest := 0, 0
	p := model.Protocol{Options: model.Text()}
	p.Lease = 1000
	err = simredis.ChainOrders(*rounds, func(order []int) error {
		length := simredis.Round(&p, order)
		sum, longest = sum+length, max(longest, length)
		return nil
	})
	if want := simredis.ChainsPlayed(*rounds, sum, longest); err != nil || said != real.Version+": "+want {
		t.Errorf("got %s (%v), but of machines on the simulated server: %s", said, err, want)
	}
}
