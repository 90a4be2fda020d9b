package stock

import (
	"context"
	"crypto/rand"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/internal/redistest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	_ "github.com/lockproof/lockproof/sim/amqp" // the backend that draws scenarios
	_ "github.com/lockproof/lockproof/sim/redis"
)

// key is a mutex on Redis, with a bug if a field is set.
type key struct {
	redistest.Mutex
	looks    bool // bug: reads whether the lock is free, and takes it in a second command
	forsakes bool // bug: the lock's key has no lease, so that a crash leaves it taken
}

func (k *key) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	k.Token = rand.Text()
	switch {
	case k.looks:
		if n, err := k.Exists(ctx, name).Result(); err != nil || n > 0 {
			return 0, err
		}
		return 1, k.Set(ctx, name, k.Token, lease).Err()
	case k.forsakes:
		if taken, err := k.SetNX(ctx, name, k.Token, 0).Result(); err != nil || !taken {
			return 0, err
		}
		return 1, nil
	}
	return k.Mutex.AcquireFor(ctx, name, lease)
}

func (k *key) Acquire(ctx context.Context, name string) (int, error) {
	return k.AcquireFor(ctx, name, time.Minute)
}

// starter returns a [foreign.Starter] whose clients are copies of like, with the same bugs.
func starter(like key) foreign.Starter {
	return inprocess.Starter{Name: "key", New: func(_ context.Context, url string) (inprocess.Lock, error) {
		k := like
		var err error
		k.Mutex, err = redistest.NewMutex(url)
		return &k, err
	}}
}

// find runs a lock behind the gate until it violates one of the wanted properties, and returns the counterexample.
func find(t *testing.T, s foreign.Starter, wanted property.Set) (found *histories.Counterexample) {
	t.Helper()
	for _, needed := range []string{"redis-server", "cc"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip("skipped:", err)
		}
	}
	on, err := gated.ServerOf("redis", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = gated.Prove(t.Context(), gated.Config{
		Lock: gated.Lock{Starter: s, Kind: lock.Mutex, On: on}, Sampling: engine.Sampling{Seed: 1, Scenarios: 60, Until: wanted},
		Found: func(ce *histories.Counterexample) {
			if wanted.Has(ce.Property) {
				found = ce
			}
		},
	})
	if err != nil || found == nil {
		t.Fatal("no finding:", err)
	}
	return found
}

// TestStock repeats a finding on a stock server. A wrong lock must fail in some rounds, and a correct lock in none.
func TestStock(t *testing.T) {
	wrong := starter(key{looks: true})
	found := find(t, wrong, safety)
	res, err := Run(t.Context(), Config{Starter: wrong, Finding: found, Rounds: 100})
	if err != nil || res.Wrong == 0 || res.Rounds != 100 {
		t.Errorf("a lock that looks first: %v, %v", res, err)
	}
	replayed, err := gated.Replay(t.Context(), found, wrong, gated.Server{})
	if err != nil {
		t.Fatal(err)
	}
	res, err = repeat(t.Context(), &Config{Starter: starter(key{}), Finding: found, Rounds: 100}, replayed.Trace, replayed.Violation)
	if err != nil || res.Wrong != 0 || res.Rounds != 100 {
		t.Errorf("a right lock: %v, %v", res, err)
	}
}

// TestForsaken checks a lock that stays taken when its holder crashes. On a stock server it must stay taken as well.
func TestForsaken(t *testing.T) {
	wrong := starter(key{forsakes: true})
	found := find(t, wrong, Repeatable&^safety)
	res, err := Run(t.Context(), Config{Starter: wrong, Finding: found, Rounds: 1})
	if err != nil || res.Wrong != 1 {
		t.Errorf("a lock that stays: %v, %v", res, err)
	}
	if res, err = Run(t.Context(), Config{Starter: starter(key{}), Finding: found, Rounds: 1}); !errors.Is(err, ErrNot) {
		t.Errorf("a lock that does not: %v, %v", res, err)
	}
}

// TestNot checks that a finding is refused if clients' replies do not show its violation.
func TestNot(t *testing.T) {
	_, err := Run(t.Context(), Config{Finding: &histories.Counterexample{Property: property.NoCrash}})
	if !errors.Is(err, ErrNot) {
		t.Error(err)
	}
}
