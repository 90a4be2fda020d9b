package consul

import (
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{
			Name: backendName, Title: "Consul", Words: lock.Words{Restarted: "sessions and keys are still there", Hold: "a place among the holders"}, Defaults: consul.Table.Defaults(), References: references, Mutants: mutants, Skips: skips,
		},
		New: func() sim.Cluster { return new(cluster) }, Links: true, Lasting: true, Options: drawOptions,
	})
}

// backendName is what targets call the backend.
const backendName = "consul"

// skips are the properties that mean nothing here.
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

// drawOptions draws options that are safe: whatever they are, the reference must hold.
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

func target(name, breaks, doc string, change func(*consul.Options)) *lock.Target {
	return &lock.Target{
		Name: name, Kind: lock.Semaphore, Backend: backendName, Traits: lock.Permits, Breaks: breaks, Doc: doc,
		Offers: []lock.Op{lock.Acquire, lock.Verify, lock.Release}, Fix: consul.Table.Fix(func(o *consul.Options) {
			o.Deletes = true
			change(o)
		}),
	}
}

// stating has callers state limits of their own.
func stating(t *lock.Target) *lock.Target {
	t.Traits |= lock.Limits
	return t
}

var references = []*lock.Target{
	target("consul-semaphore", "", "the guide's semaphore; a contender reads again before it believes, and its key goes with its session", func(*consul.Options) {}),
}

// mutants are the guide as it reads, then locks with one bug each.
var mutants = []*lock.Target{
	target("consul-unconfirmed", "mutual-exclusion", "the guide as it reads: whoever wins the check-and-set holds, whether or not its session is alive", func(o *consul.Options) { o.Confirm = false }),
	target("consul-released-keys", "no-leak", "the keys of contenders are released with their sessions, as they are unless said otherwise", func(o *consul.Options) { o.Deletes = false }),
	target("consul-holders-only", "stale-belief-ends", "a holder looks for its session among the holders, and not whether that is alive", func(o *consul.Options) { o.Verify = consul.ByHolders }),
	target("consul-two-reads", "mutual-exclusion", "the live contenders are those of an earlier read than the lock's", func(o *consul.Options) { o.Prune = consul.TwoReads }),
	target("consul-no-pruning", "progress", "nobody prunes holders that are not alive", func(o *consul.Options) { o.Prune = consul.NoPruning }),
	target("consul-blind-put", "mutual-exclusion", "the lock is written whatever it has become", func(o *consul.Options) { o.Write = consul.Blindly }),
	target("consul-credulous", "mutual-exclusion", "a lost check-and-set is taken for a won one, and not looked at again", func(o *consul.Options) { o.Claim, o.Confirm = consul.Ignored, false }),
	target("consul-no-contender", "mutual-exclusion", "a contender goes on without its key", func(o *consul.Options) { o.Entry, o.Verify, o.Confirm = consul.Ignored, consul.ByHolders, false }),
	target("consul-one-too-many", "no-phantom-slot", "as many holders as the limit leave room for one more", func(o *consul.Options) { o.Compare = consul.AtMost }),
	stating(target("consul-limits-differ", "limit-respected", "the limit of whoever makes the lock's key is everybody's: who states a smaller one is one of more than it meant", func(*consul.Options) {})),
	target("consul-key-deleted", "mutual-exclusion", "a release deletes the lock's key, as an operator might, and with it the names of all who hold a slot", func(o *consul.Options) { o.Removes = consul.TheKey }),
	target("consul-all-out", "mutual-exclusion", "a release takes everybody from the holders", func(o *consul.Options) { o.Removes = consul.Everyone }),
}
