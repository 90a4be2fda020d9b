// Package redistest provides a real Redis to tests. If there is none, the tests are skipped.
//
// With LOCKPROOF_REQUIRE_REDIS=1 in the environment, a test that would be skipped fails instead.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/internal/containertest"
)

// EnvRequire names an environment variable. If it is 1, a test fails if there is no Redis; otherwise it is skipped.
const EnvRequire = "LOCKPROOF_REQUIRE_REDIS"

// Shared returns a Redis that tests share, with one another and maybe with other programs. So each test keeps its
// keys in a [redis.Space]. It is a running Redis if one is found, otherwise one in a container.
func Shared(t testing.TB) *redis.Server {
	t.Helper()
	s, err := redis.Find(t.Context(), "")
	if errors.Is(err, redis.ErrNoServer) {
		url, none := containertest.URL("redis", answers)
		if none == nil {
			return closed(t)(redis.Dial(t.Context(), url))
		}
		err = fmt.Errorf("%w; %w", err, none)
	}
	return closed(t)(s, err)
}

// answers reports whether the Redis at url answers. It is a [container.Ready].
func answers(ctx context.Context, url string) error {
	s, err := redis.Dial(ctx, url)
	if err != nil {
		return err
	}
	return s.Close()
}

// Private starts a Redis for this test alone, which the test may restart. args are arguments for redis-server.
func Private(t testing.TB, args ...string) *redis.Server {
	t.Helper()
	return closed(t)(redis.Start(t.Context(), args...))
}

func closed(t testing.TB) func(*redis.Server, error) *redis.Server {
	return func(s *redis.Server, err error) *redis.Server {
		t.Helper()
		switch {
		case err == nil:
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return s
		case errors.Is(err, redis.ErrNoServer) && os.Getenv(EnvRequire) != "1":
			t.Skip(err)
		}
		t.Fatal(err)
		return nil
	}
}

// Program skips a test if redis-server, or the C compiler that the virtual clock needs, is not installed.
func Program(t testing.TB) {
	t.Helper()
	for _, name := range []string{"redis-server", "cc"} {
		_, err := exec.LookPath(name)
		switch {
		case err == nil:
		case os.Getenv(EnvRequire) == "1":
			t.Fatal(err)
		default:
			t.Skip("skipped:", err)
		}
	}
}
