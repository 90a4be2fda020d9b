package redis_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/redis"
)

// TestClaimsRefuse: an option that has no effect with entry=claims is refused, since the lock would not be the
// requested one.
func TestClaimsRefuse(t *testing.T) {
	for name, change := range map[string]func(*redis.Options){
		"equal":   func(o *redis.Options) { o.Equal = redis.Take },
		"release": func(o *redis.Options) { o.Release = redis.Unguarded },
		"stolen":  func(o *redis.Options) { o.Stolen = redis.Longest },
	} {
		o := redis.Repaired()
		if change(&o); o.Check() == nil {
			t.Errorf("%s is ignored by claims, and not refused", name)
		}
		if o.Entry = redis.Single; o.Check() != nil {
			t.Errorf("%s of single entries: %v", name, o.Check())
		}
	}
}
