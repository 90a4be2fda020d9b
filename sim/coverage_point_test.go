package sim_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

// TestCoveragePointOf: a coverage point has the name that fits its server. Names with RabbitMQ's terms are only for
// brokers.
func TestCoveragePointOf(t *testing.T) {
	for name, want := range map[string]string{"semaphore": "RESOURCE_LOCKED", "token-semaphore": "RESOURCE_LOCKED", "consul-semaphore": "lost race", "mariadb-slots": "lost race"} {
		target := lock.TargetNamed(name)
		if got := sim.SawLostRace.Of(lock.BackendOf(target).Words, target.Kind); got != want {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	if got := sim.SawFull.Of(lock.Words{}, lock.Mutex); got != "acquire: taken" {
		t.Errorf("a mutex is %q", got)
	}
}
