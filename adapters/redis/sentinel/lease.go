package sentinel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/inprocess"
)

// Lease is a lock by a key with a lease. Waits has a grant wait until a replica has the key.
type Lease struct {
	Name, Doc string
	waits     bool
}

// Leases are the designs.
var Leases = []Lease{
	{Name: "redis-lease", Doc: "sets a key with a token and a lease, by SET NX PX; verifies by reading it"},
	{Name: "redis-lease-waited", Doc: "the same, and waits until a replica has the key, by WAIT", waits: true},
}

// LeaseTime is how long a lease lasts. Clients do not renew it: they hold the lock for less.
const LeaseTime = 5 * time.Second

const (
	waitTime    = time.Second      // for a replica
	replyLimit  = 2 * time.Second
	connectTime = 2 * time.Second
)

// Starter starts clients of the design.
func (l Lease) Starter() inprocess.Starter {
	return inprocess.Starter{Name: l.Name, New: func(_ context.Context, address string) (inprocess.Lock, error) { return l.client(address) }}
}

// quiet says nothing of what a client does: what goes wrong is an error of its calls.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// client is a client that finds the master by the Sentinels of an address; see [Cluster.URL].
func (l Lease) client(address string) (*holder, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "redis+sentinel" {
		return nil, fmt.Errorf("%q: expected redis+sentinel://HOST:PORT,…/NAME?from=ADDRESS", address)
	}
	redis.SetLogger(quiet{})
	dialer := &net.Dialer{Timeout: connectTime}
	if from := net.ParseIP(u.Query().Get("from")); from != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: from}
	}
	return &holder{design: l, redis: redis.NewFailoverClient(&redis.FailoverOptions{
		Dialer:     dialer.DialContext,
		MasterName: strings.TrimPrefix(u.Path, "/"), SentinelAddrs: strings.Split(u.Host, ","), MaxRetries: -1,
		ReadTimeout: replyLimit, WriteTimeout: replyLimit, DialTimeout: connectTime, PoolSize: 1,
	})}, nil
}

// holder is a client of a lock by a lease.
type holder struct {
	design Lease
	redis  *redis.Client
	token  string // of the hold; "" while there is none
}

// Acquire sets the key unless somebody has.
func (h *holder) Acquire(ctx context.Context, name string) (int, error) {
	token := rand.Text()
	set, err := h.redis.SetNX(ctx, name, token, LeaseTime).Result()
	if err != nil || !set {
		return 0, err
	}
	h.token = token
	if h.design.waits {
		copies, err := h.redis.Wait(ctx, 1, waitTime).Result()
		if err != nil || copies == 0 {
			return 0, errors.Join(fmt.Errorf("no replica has the key after %s", waitTime), err, h.Release(ctx, name, 1))
		}
	}
	return 1, nil
}

// Verify reads the key.
func (h *holder) Verify(ctx context.Context, name string, _ int) (bool, error) {
	value, err := h.redis.Get(ctx, name).Result()
	if err == redis.Nil {
		err = nil
	}
	return err == nil && value == h.token && value != "", err
}

// giveBack deletes the key of a token, and no other's.
var giveBack = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// Release deletes the key, if it is this client's.
func (h *holder) Release(ctx context.Context, name string, _ int) error {
	token := h.token
	h.token = ""
	return giveBack.Run(ctx, h.redis, []string{name}, token).Err()
}

// Close gives the connections up.
func (h *holder) Close() error { return h.redis.Close() }
