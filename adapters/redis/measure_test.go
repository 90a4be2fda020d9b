package redis_test

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/lock"
	_ "github.com/lockproof/lockproof/sim/redis"
)

// TestMeasured: every reference lock is measured on a real server, with the number of commands that its protocol has.
// If the lock has leases, another client acquires the lock after the holder is killed.
func TestMeasured(t *testing.T) {
	server, err := redistest.Shared(t).Measured(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := lock.BackendNamed("redis")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range b.References {
		t.Run(target.Name, func(t *testing.T) {
			m, err := measure.Run(t.Context(), server, target, measure.Load{Clients: []int{2}, Time: 40 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			servers := 1.0
			if target.Name == "priority-redlock" {
				servers = 3
			}
			for _, o := range m.Operations {
				if o.Operation != "refused" && o.Commands != servers || o.Sent < 40 || o.Received < 4 {
					t.Errorf("%+v", o)
				}
			}
			for _, l := range m.Loads {
				if l.LeftOut != "" || l.Granted == 0 && target.Name != "priority-redlock" {
					t.Errorf("%+v", l)
				}
			}
			if m.Free.Count == 0 || m.Lease == 0 {
				t.Errorf("%+v of a lease of %v", m.Free, m.Lease)
			}
		})
	}
}
