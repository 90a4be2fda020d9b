package redis_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/redis"
)

// An error says what was tried, where, and what to do.
func TestErrors(t *testing.T) {
	for address, wants := range map[string][]string{
		"redis://127.0.0.1:1/0": {"asking the Redis at 127.0.0.1:1", "refused", redis.EnvURL},
		"nonsense":              {"the address of a Redis", "expected one such as redis://"},
	} {
		s, err := redis.Find(t.Context(), address)
		if err == nil {
			t.Errorf("%s: a server, %s", address, s.Version)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; expected %q in it", address, err, want)
			}
		}
	}
}
