package redistest

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Mutex is a correct mutex on Redis: a key with a random token as its value, and with an expiry time. Tests embed it
// in mutexes with bugs.
type Mutex struct {
	*redis.Client
	Token string // token of the present hold
}

// NewMutex connects a mutex to the Redis server at url.
func NewMutex(url string) (Mutex, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return Mutex{}, err
	}
	return Mutex{Client: redis.NewClient(o)}, nil
}

// AcquireFor acquires the mutex for the time of lease. It returns 1, or 0 if the mutex is taken.
func (m *Mutex) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	m.Token = rand.Text()
	switch err := m.Do(ctx, "set", name, m.Token, "nx", "px", lease.Milliseconds()).Err(); {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return 1, nil
}

// Acquire acquires the mutex for a minute.
func (m *Mutex) Acquire(ctx context.Context, name string) (int, error) {
	return m.AcquireFor(ctx, name, time.Minute)
}

// Verify reports whether the key's value is this client's token.
func (m *Mutex) Verify(ctx context.Context, name string, _ int) (bool, error) {
	token, err := m.Get(ctx, name).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return err == nil && token == m.Token, err
}

// Release deletes the key if its value is this client's token.
func (m *Mutex) Release(ctx context.Context, name string, _ int) error {
	return m.Eval(ctx, `if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("del", KEYS[1]) end`, []string{name}, m.Token).Err()
}
