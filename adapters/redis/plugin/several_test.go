package plugin_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
)

// quorum is a mutex on several independent servers, after the algorithm Redlock.
type quorum struct {
	nodes []*redis.Client
	// half is a bug: half of the servers count as a majority.
	half bool
	// leaves is a bug: a refused acquire does not delete the keys that it has set on some servers.
	leaves bool
	// again makes a release try up to four times on each server that returns an error, for example because the
	// connection to it has ended. Otherwise a release tries once.
	again bool
	token string
}

// each calls a function for all servers at once.
func (q *quorum) each(do func(*redis.Client)) {
	var all sync.WaitGroup
	for _, n := range q.nodes {
		all.Go(func() { do(n) })
	}
	all.Wait()
}

func (q *quorum) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	q.token = rand.Text()
	var granted atomic.Int32
	q.each(func(n *redis.Client) {
		if n.Do(ctx, "set", name, q.token, "nx", "px", lease.Milliseconds()).Err() == nil {
			granted.Add(1)
		}
	})
	enough := len(q.nodes)/2 + 1
	if q.half {
		enough = len(q.nodes) / 2
	}
	if int(granted.Load()) >= enough {
		return 1, nil
	}
	if q.leaves {
		return 0, nil
	}
	return 0, q.Release(ctx, name, 1)
}

func (q *quorum) Acquire(ctx context.Context, name string) (int, error) {
	return q.AcquireFor(ctx, name, time.Minute)
}

func (q *quorum) Verify(ctx context.Context, name string, _ int) (bool, error) {
	var mine atomic.Int32
	q.each(func(n *redis.Client) {
		if token, err := n.Get(ctx, name).Result(); err == nil && token == q.token {
			mine.Add(1)
		}
	})
	return int(mine.Load()) >= len(q.nodes)/2+1, nil
}

func (q *quorum) Release(ctx context.Context, name string, _ int) error {
	q.each(func(n *redis.Client) {
		for range 4 {
			if err := compareAndDelete.Run(ctx, n, []string{name}, q.token).Err(); err == nil || !q.again {
				return
			}
		}
	})
	return nil
}

func (q *quorum) Close() error {
	for _, n := range q.nodes {
		n.Close()
	}
	return nil
}

func quorums(bug quorum) inprocess.Starter {
	return inprocess.Starter{Name: "quorum", New: func(_ context.Context, urls string) (inprocess.Lock, error) {
		q := bug
		for url := range strings.SplitSeq(urls, ",") {
			o, err := redis.ParseURL(url)
			if err != nil {
				return nil, err
			}
			o.MaxRetries, o.PoolSize = -1, 1
			q.nodes = append(q.nodes, redis.NewClient(o))
		}
		return &q, nil
	}}
}

// TestSeveral: locks on three servers are judged, where the commands of one client pass in any order.
func TestSeveral(t *testing.T) {
	for name, c := range map[string]struct {
		bug   quorum
		wrong property.Property
		right bool
	}{
		"right":           {right: true},
		"half are enough": {bug: quorum{half: true}, wrong: property.MutualExclusion},
	} {
		t.Run(name, func(t *testing.T) {
			var wrong property.Set
			if !c.right {
				wrong = wrong.With(c.wrong)
			}
			judge(t, quorums(c.bug), 3, wrong)
		})
	}
}
