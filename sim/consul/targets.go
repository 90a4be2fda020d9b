package consul

import (
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{
			Name: consul.Name, Title: "Consul", Words: lock.Words{Restarted: "sessions and keys are still there", Hold: "a place among the holders"}, Defaults: consul.Table.Defaults(), References: consul.References, Mutants: consul.Mutants, Skips: skips,
		},
		New: func() sim.Cluster { return new(cluster) }, Links: true, Lasting: true, Options: drawOptions,
	})
}

// skips has the properties that are not judged for these locks, and the reason for each.
var skips = map[string]string{
	"no-false-hold":    "nobody removes slots",
	"contiguous-slots": "slots have no numbers",
	"exact-count":      "there is no count",
	"admin-exclusion":  "there is no administration",
	"removal-drains":   "nobody removes slots",
	"survives-restart": "sessions, and what they hold, go on through a restart",
	"cheap-acquire":    "what an acquire costs is the guide's: five requests, and three more for each lost check-and-set",
	"minimal-driver":   "the commands that every driver has are a matter of AMQP",
}

// drawOptions draws options for a scenario. The reference locks must be right with any of them.
func drawOptions(d sim.Draws, fix func(lock.Options) lock.Options) lock.Options {
	o := consul.Confirmed()
	o.Deletes = true
	o.TTL = []int{0, 0, 10, 30}[d.Bits(2)]
	o.Retries = []int{3, 3, 1, 6}[d.Bits(2)]
	o.Watch = d.Bits(2) != 3
	if d.Bits(2) == 3 {
		o.Full, o.Wait = consul.Listen, 10
	}
	return fix(consul.Table.Options(o))
}
