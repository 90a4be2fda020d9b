package plugin_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/etcd/plugin"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/property"
)

// server configures the etcd for the tests.
var server = gatetest.Server{Open: func() (gate.Server, error) { return plugin.Open(1) }, Require: "LOCKPROOF_REQUIRE_ETCD", Executions: 90}

// design is a way to implement a mutex on etcd, with or without a bug.
type design struct {
	name    string
	claim   func(ctx context.Context, m *mutex, key string) (bool, error)
	release func(ctx context.Context, m *mutex, key string) error
	wrong   property.Set // properties that it violates; empty for a correct mutex
}

// mutex is a client of a lock that is a key with a lease.
type mutex struct {
	*client
	design *design
	lease  uint64
}

func (m *mutex) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	granted, err := m.call(ctx, "Lease/LeaseGrant", pb(nil).number(1, uint64(lease/time.Second)))
	if err != nil {
		return 0, err
	}
	m.lease = number(granted, 2)
	held, err := m.design.claim(ctx, m, name)
	if err != nil {
		return 0, err
	}
	if !held {
		return 0, m.end(ctx)
	}
	return 1, nil
}

func (m *mutex) Acquire(ctx context.Context, name string) (int, error) {
	return m.AcquireFor(ctx, name, time.Minute)
}

// Verify asks whether the key belongs to this client's lease.
func (m *mutex) Verify(ctx context.Context, name string, _ int) (bool, error) {
	mine := pb(nil).number(2, 4).text(3, name).number(8, m.lease)
	answer, err := m.call(ctx, "KV/Txn", pb(nil).text(1, string(mine)))
	return err == nil && number(answer, 2) == 1, err
}

func (m *mutex) Release(ctx context.Context, name string, _ int) error {
	if err := m.design.release(ctx, m, name); err != nil {
		return err
	}
	return m.end(ctx)
}

func (m *mutex) Close() error {
	m.CloseIdleConnections()
	return nil
}

// end ends the lease. It returns no error if the lease has already ended.
func (m *mutex) end(ctx context.Context) error {
	_, err := m.call(ctx, "Lease/LeaseRevoke", pb(nil).number(1, m.lease))
	if err != nil && m.ended(ctx) {
		return nil
	}
	return err
}

// ended reports whether the lease no longer exists on the server.
func (m *mutex) ended(ctx context.Context) bool {
	answer, err := m.call(ctx, "Lease/LeaseTimeToLive", pb(nil).number(1, m.lease))
	return err == nil && int64(number(answer, 3)) <= 0
}

// put returns the request that writes a key with this client's lease.
func (m *mutex) put(key string) pb { return pb(nil).text(1, key).text(2, "x").number(3, m.lease) }

// create writes the key if it does not exist, in one transaction.
func create(ctx context.Context, m *mutex, key string) (bool, error) {
	absent := pb(nil).number(2, 1).text(3, key).number(5, 0)
	answer, err := m.call(ctx, "KV/Txn", pb(nil).text(1, string(absent)).text(2, string(pb(nil).text(2, string(m.put(key))))))
	return err == nil && number(answer, 2) == 1, err
}

// looksFirst is an acquire with a bug: it reads the key, and writes it in a second command.
func looksFirst(ctx context.Context, m *mutex, key string) (bool, error) {
	found, err := m.call(ctx, "KV/Range", pb(nil).text(1, key))
	if err != nil || number(found, 4) > 0 {
		return false, err
	}
	_, err = m.call(ctx, "KV/Put", m.put(key))
	return err == nil, err
}

// byLease is a release that does nothing itself: the end of the lease deletes the key.
func byLease(context.Context, *mutex, string) error { return nil }

// anyone is a release with a bug: it deletes the key, even if another client holds it.
func anyone(ctx context.Context, m *mutex, key string) error {
	_, err := m.call(ctx, "KV/DeleteRange", pb(nil).text(1, key))
	return err
}

var designs = []design{
	{name: "right", claim: create, release: byLease},
	{name: "looks first", claim: looksFirst, release: byLease, wrong: property.Set(0).With(property.MutualExclusion)},
	{name: "deletes anybody's", claim: create, release: anyone, wrong: property.Set(0).With(property.MutualExclusion)},
}

// starter returns a starter of clients with a mutex of the given design.
func starter(d *design) inprocess.Starter {
	return inprocess.Starter{Name: d.name, New: func(_ context.Context, url string) (inprocess.Lock, error) {
		return &mutex{client: newClient(url), design: d}, nil
	}}
}

// TestDesigns: a mutex with a bug violates exactly the expected property, and the correct one violates none.
func TestDesigns(t *testing.T) {
	for i := range designs {
		d := &designs[i]
		t.Run(d.name, func(t *testing.T) {
			server.Judge(t, starter(d), d.wrong)
		})
	}
}

// TestRepeats: if a scenario is run again, its execution is the same.
func TestRepeats(t *testing.T) { server.Repeats(t, starter(&designs[0]), 15) }

// TestTime: a lease ends when virtual time says so. It does not end by the server's own clock, nor while it is
// renewed.
func TestTime(t *testing.T) {
	s := server.Start(t)
	m := &mutex{client: newClient(gatetest.URL(t, s))}
	defer m.CloseIdleConnections()
	s.Begin("")
	granted, err := m.call(t.Context(), "Lease/LeaseGrant", pb(nil).number(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	m.lease = number(granted, 2)
	if ok, err := create(t.Context(), m, "jobs"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	there := func(want int, when string) {
		t.Helper()
		if items := s.Items(); len(items) != want {
			t.Fatalf("%s: %+v", when, items)
		}
	}
	if !testing.Short() {
		time.Sleep(4 * time.Second)
		there(1, "after twice its time on the server's clock")
	}
	s.Advance(1999)
	there(1, "a millisecond before the end")
	if _, err := m.call(t.Context(), "Lease/LeaseKeepAlive", pb(nil).number(1, m.lease)); err != nil {
		t.Fatal(err)
	}
	s.Advance(1999)
	there(1, "after it was kept alive")
	s.Advance(1)
	there(0, "at its end")
	if err := s.Remove(nil); err != nil {
		t.Error(err)
	}
}

// TestWatch: a watcher learns of a later change, whatever revision its watch begins at.
func TestWatch(t *testing.T) {
	m := &mutex{client: newClient(gatetest.URL(t, server.Start(t)))}
	defer m.CloseIdleConnections()
	for _, from := range []uint64{0, 1, 2} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		body, ask := io.Pipe()
		go func() { _, _ = ask.Write(framed(pb(nil).text(1, string(pb(nil).text(1, "jobs").number(3, from))))) }()
		a, err := m.begin(ctx, "Watch/Watch", body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next(a.Body); err != nil { // the watch has begun
			t.Fatal(err)
		}
		if _, err := m.call(ctx, "KV/Put", pb(nil).text(1, "jobs").text(2, "x")); err != nil {
			t.Fatal(err)
		}
		if _, err := next(a.Body); err != nil {
			t.Fatalf("from revision %d: %v", from, err)
		}
		cancel()
		a.Body.Close()
	}
}
