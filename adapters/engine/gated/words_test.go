package gated_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	_ "github.com/lockproof/lockproof/sim/redis"
)

// key is a mutex on Redis: a key with a lease.
type key struct {
	*redis.Client
	token string
}

func (k *key) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	k.token = rand.Text()
	switch err := k.Do(ctx, "set", name, k.token, "nx", "px", lease.Milliseconds()).Err(); {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return 1, nil
}

func (k *key) Acquire(ctx context.Context, name string) (int, error) {
	return k.AcquireFor(ctx, name, time.Minute)
}

func (k *key) Verify(ctx context.Context, name string, _ int) (bool, error) {
	token, err := k.Get(ctx, name).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return err == nil && token == k.token, err
}

func (k *key) Release(ctx context.Context, name string, _ int) error {
	return k.Eval(ctx, `if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("del", KEYS[1]) end`, []string{name}, k.token).Err()
}

// TestWords: the card of a lock on Redis speaks of no broker, and of nothing that only a broker has.
func TestWords(t *testing.T) {
	for _, needed := range []string{"redis-server", "cc"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip("skipped:", err)
		}
	}
	on, err := gated.ServerOf("redis", 1)
	if err != nil {
		t.Fatal(err)
	}
	start := func(_ context.Context, url string) (inprocess.Lock, error) {
		o, err := redis.ParseURL(url)
		if err != nil {
			return nil, err
		}
		return &key{Client: redis.NewClient(o)}, nil
	}
	res, err := gated.Prove(t.Context(), gated.Config{
		Starter: inprocess.Starter{Name: "key", New: start}, Kind: lock.Mutex, On: on, Seed: 1, Scenarios: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	var card strings.Builder
	if err := report.WriteCard(&card, res.Report, style.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"broker", "channel", "unpipelined", "RESOURCE_LOCKED", "administration", "withdrawn", "queue"} {
		if at := strings.Index(card.String(), word); at >= 0 {
			t.Errorf("%q is on the card:\n%s", word, &card)
		}
	}
	if !strings.Contains(card.String(), "connections") {
		t.Errorf("no costs:\n%s", &card)
	}
}
