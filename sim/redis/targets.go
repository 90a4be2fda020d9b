package redis

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/sim"
)

// clockFaults has the largest clock faults that the drawn margins allow for.
var clockFaults = sim.ClockFaults{SkewMillis: 3, DriftThousandths: 100}

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{
			Name: redis.Name, Title: "Redis", Words: lock.Words{Restarted: "connections are gone", Hold: "an entry"}, Defaults: redis.Table.Defaults(), References: redis.References, Mutants: redis.Mutants, Skips: skips,
		},
		New: func() sim.Cluster { return new(cluster) }, Links: true, Leases: true, Clocks: clockFaults, Options: drawOptions,
	})
}

// skips has the properties that are not judged for these locks, and the reason for each.
var skips = map[string]string{
	"cheap-acquire":     "what an acquire costs depends on the number of servers, and on others' acknowledgements",
	"cheap-verify":      "a verify asks every server",
	"minimal-driver":    "the commands that every driver has are a matter of AMQP",
	"stale-belief-ends": "a lease goes on when its client's connection is lost",
	"survives-restart":  "a lease goes on through a restart: see lease-respected",
	"crash-frees":       "nothing notices a crash: the lease ends by itself",
}

// drawOptions draws options for a scenario. The reference locks must be right with any of them.
func drawOptions(d sim.Draws, fix func(lock.Options) lock.Options) lock.Options {
	o := redis.Repaired()
	o.Servers = []int{1, 1, 3, 5}[d.Bits(2)]
	o.Lease = []int{40, 48, 64, 80}[d.Bits(2)]
	o.LeaseAbove = []int{0, 0, 24, 60}[d.Bits(2)]
	o.Margin = 10 + max(o.Lease, o.LeaseAbove)/8 // three clock faults together amount to less
	o.Wait = []int{100, 100, 50, 25}[d.Bits(2)]
	return fix(redis.Table.Options(o))
}
