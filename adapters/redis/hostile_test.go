package redis_test

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/internal/boundtest"
)

// TestHostile: if a server is silent, sends very slowly or never stops sending, Dial fails in bounded time and
// memory.
func TestHostile(t *testing.T) {
	all := boundtest.All("+OK\r\n", "$67108864\r\n")
	for _, endless := range []string{"*2000000000\r\n", "$9223372036854775800\r\n", "*1000000\r\n", "$1000000\r\n", "%2147483647\r\n", "-ERR no\r\n"} {
		all = append(all, boundtest.Hostile{Name: "endless " + endless[:len(endless)-2], Endless: endless, Asked: true})
	}
	boundtest.Refused(t, all, time.Minute, func(address string) error {
		s, err := redis.Dial(t.Context(), "redis://"+address+"/0")
		if err == nil {
			s.Close()
		}
		return err
	})
}
