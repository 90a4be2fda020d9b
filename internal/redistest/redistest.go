// Package redistest gives tests a real Redis, and skips them where there is none.
//
// With LOCKPROOF_REQUIRE_REDIS=1 in the environment, a test that would be skipped fails instead.
package redistest

import (
	"errors"
	"os"
	"testing"

	"github.com/lockproof/lockproof/adapters/redis"
)

// EnvRequire names the environment variable that makes a missing Redis a failure.
const EnvRequire = "LOCKPROOF_REQUIRE_REDIS"

// Shared is a Redis that tests share, with one another and maybe with other programs: keys are in a [redis.Space].
func Shared(t testing.TB) *redis.Server {
	t.Helper()
	return closed(t)(redis.Find(t.Context(), ""))
}

// Private is a Redis for this test alone, which may be restarted.
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
