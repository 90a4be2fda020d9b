package databases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// TestLocksMeasured: every reference lock is measured on its server, with commits that are as durable as the server's
// settings say. A killed holder's slot can be acquired again, and no row is left.
func TestLocksMeasured(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel() // it mostly waits for a lease to end
			m, err := server(t, d).Measured(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}()
			if strings.HasSuffix(m.Name(), "=off)") {
				t.Errorf("%s: the connections of measurements are less durable than the server's", m.Name())
			}
			b, err := lock.BackendNamed(d.String())
			if err != nil {
				t.Fatal(err)
			}
			references := b.References
			if testing.Short() {
				references = references[:1]
			}
			for _, target := range references {
				t.Run(target.Name, func(t *testing.T) { measureOne(t, m, target) })
			}
			for table := range sql.Tables {
				for n := range m.Locks() {
					if rows, err := m.Database().Rows(t.Context(), table, n+1); err != nil || len(rows) > 0 {
						t.Errorf("left of lock %d in %v: %v, %v", n+1, table, rows, err)
					}
				}
			}
		})
	}
}

// measureOne measures one lock. Its lease is longer than an acquire takes, even with slow commits.
func measureOne(t *testing.T, on *databases.Measured, target *lock.Target) {
	m, err := measure.Run(t.Context(), on, target, measure.Load{Clients: []int{2}, Time: 40 * time.Millisecond, Lease: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.Operations {
		if o.Commands < 1 || o.RoundTrips != o.Commands || o.Sent < 40 || o.Received < 10 {
			t.Errorf("%+v", o)
		}
	}
	for _, l := range m.Loads {
		if l.LeftOut != "" || l.Granted == 0 {
			t.Errorf("%+v", l)
		}
	}
	if m.Free.Count == 0 || m.Lease == 0 {
		t.Errorf("%+v of a lease of %v", m.Free, m.Lease)
	}
}
