package designs_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/lock"
)

// On one node every design is a mutex: one client acquires, verifies and releases it, then another client acquires it.
// Closing a holder's connection releases it as well.
func TestOneNode(t *testing.T) {
	url := rabbitmqtest.URL(t)
	for _, d := range designs.All {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			name := stress.Prefix() + "jobs"
			if err := d.SetUp(t.Context(), url, name); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Remove(context.Background(), url, name); err != nil {
					t.Error(err)
				}
			})
			a, b := client(t, d, url, 1), client(t, d, url, 2)
			want(t, "a alone", call(t, a, lock.Acquire, name), true)
			want(t, "b beside a", call(t, b, lock.Acquire, name), false)
			want(t, "a verifies", call(t, a, lock.Verify, name), true)
			call(t, a, lock.Release, name)
			want(t, "b after a", comes(t, b, name), true)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			want(t, "a after b has ended", comes(t, a, name), true)
			call(t, a, lock.Release, name)
			if n, err := d.Tokens(t.Context(), url, name); d.Token && (err != nil || n != 1) {
				t.Errorf("%d tokens, %v", n, err)
			}
		})
	}
}

func client(t *testing.T, d designs.Design, url string, number int) foreign.Client {
	t.Helper()
	c, err := d.Starter().Start(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := foreign.Introduce(t.Context(), c, foreign.Setup{Client: foreign.ClientName(number), Lock: lock.Mutex, URLs: []string{url}}); err != nil {
		t.Fatal(err)
	}
	return c
}

func call(t *testing.T, c foreign.Client, op lock.Op, name string) bool {
	t.Helper()
	r, err := c.Call(t.Context(), op, foreign.Params{Name: name, Slot: 1})
	if err != nil || r.Outcome != lock.Done {
		t.Fatalf("%s: %+v, %v: %s", op, r, err, foreign.ExplanationOf(c))
	}
	return r.Held
}

// comes tries up to 20 times to acquire a lock, and reports whether the client got it. The server may need a moment to
// notice a release or to deliver the token.
func comes(t *testing.T, c foreign.Client, name string) (held bool) {
	t.Helper()
	for i := 0; i < 20 && !held; i++ {
		held = call(t, c, lock.Acquire, name)
	}
	return held
}

func want(t *testing.T, what string, got, expected bool) {
	t.Helper()
	if got != expected {
		t.Fatalf("%s: held %v, expected %v", what, got, expected)
	}
}

// Named finds a design, and returns an error for an unknown name.
func TestNamed(t *testing.T) {
	if d, err := designs.Named("quorum-token"); err != nil || d.Name != "quorum-token" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := designs.Named("paxos"); err == nil {
		t.Error("a name that is none")
	}
}
