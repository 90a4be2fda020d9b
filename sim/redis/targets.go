package redis

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/sim"
)

// clockFaults are by how much clients' clocks may differ: no more than what the margins that are drawn allow for.
var clockFaults = sim.ClockFaults{SkewMillis: 3, DriftThousandths: 100}

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{
			Name: backendName, Title: "Redis", Words: lock.Words{Restarted: "connections are gone", Hold: "an entry"}, Defaults: redis.Table.Defaults(), References: references, Mutants: mutants, Skips: skips,
		},
		New: func() sim.Cluster { return new(cluster) }, Links: true, Leases: true, Clocks: clockFaults, Options: drawOptions,
	})
}

// skips are the properties that mean nothing here.
var skips = map[string]string{
	"cheap-acquire":     "what an acquire costs depends on the number of servers, and on others' acknowledgements",
	"cheap-verify":      "a verify asks every server",
	"minimal-driver":    "the commands that every driver has are a matter of AMQP",
	"stale-belief-ends": "a lease goes on when its client's connection is lost",
	"survives-restart":  "a lease goes on through a restart: see lease-respected",
	"crash-frees":       "nothing notices a crash: the lease ends by itself",
}

// drawOptions draws options that are safe: whatever they are, the reference must hold.
func drawOptions(d sim.Draws, fix func(lock.Options) lock.Options) lock.Options {
	o := redis.Repaired()
	o.Servers = []int{1, 1, 3, 5}[d.Bits(2)]
	o.Lease = []int{40, 48, 64, 80}[d.Bits(2)]
	o.LeaseAbove = []int{0, 0, 24, 60}[d.Bits(2)]
	o.Margin = 10 + max(o.Lease, o.LeaseAbove)/8 // three faults of a clock are less
	o.Wait = []int{100, 100, 50, 25}[d.Bits(2)]
	return fix(redis.Table.Options(o))
}

// backendName is what targets call the backend.
const backendName = "redis"

const traits = lock.Leases | lock.Priorities | lock.Deadlines | lock.Acknowledged

// target is a lock with the options of base and a change. What a scenario says of leases, and of what neither is about,
// is left as it is.
func target(name, breaks, doc string, base redis.Options, change func(*redis.Options)) *lock.Target {
	return &lock.Target{
		Name: name, Kind: lock.Mutex, Backend: backendName, Traits: traits, Breaks: breaks, Doc: doc,
		Fix: redis.Table.Fix(func(o *redis.Options) {
			o.Entry, o.Stolen, o.GiveUp, o.Chain, o.GaveUp = base.Entry, base.Stolen, base.GiveUp, base.Chain, base.GaveUp
			change(o)
		}),
	}
}

func same(*redis.Options) {}

// three is a change to Redlock's three servers.
func three(o *redis.Options) { o.Servers = 3 }

// references are the combinations of options that were proved.
var references = []*lock.Target{
	target("priority-lock", "", "one server; an entry keeps the claims of whom it was stolen from, each with its own lease", redis.Repaired(), same),
	target("priority-redlock", "", "the same on three servers", redis.Repaired(), three),
	target("priority-lock-left", "", "one server; a stolen entry lives as long as the one it replaced, and is left to expire by a thief without success", redis.Left(), same),
}

// mutants are the text as it reads, then locks with one bug each. Those whose bug is in what the repair replaces are made of
// the other combination that is right.
var mutants = []*lock.Target{
	target("priority-text", "mutual-exclusion", "the text as it reads, on one server, all leases the same", redis.Text(), same),
	target("short-lease", "mutual-exclusion", "a thief's lease is shorter than its victim's, and so is the entry's", redis.Left(),
		func(o *redis.Options) { o.Stolen, o.LeaseAbove, o.Margin = redis.OfThief, o.Lease/3, 0 }),
	target("failed-thief-deletes", "mutual-exclusion", "a thief without success deletes the entries that it has overwritten", redis.Left(),
		func(o *redis.Options) { o.GiveUp, o.Servers = redis.GiveUpDelete, 3 }),
	target("one-victim", "mutual-exclusion", "one victim is asked of several", redis.Left(),
		func(o *redis.Options) { o.Victims, o.Servers = redis.FirstVictim, 3 }),
	target("no-victim", "victim-acknowledged", "no victim is asked", redis.Repaired(), func(o *redis.Options) { o.Victims = redis.NoVictim }),
	target("impatient-thief", "mutual-exclusion", "a thief takes silence for consent after a quarter of its lease (f = 0.25)", redis.Repaired(),
		func(o *redis.Options) { o.Wait, o.Unanswered = 25, redis.Proceed }),
	target("not-mine", "mutual-exclusion", "a thief that gave up disowns the lock though its victim may still work", redis.Left(),
		func(o *redis.Options) { o.GaveUp = redis.Disown }),
	target("chain-at-once", "mutual-exclusion", "a thief that waits acknowledges before its own victim has", redis.Left(),
		func(o *redis.Options) { o.Chain = redis.ChainAtOnce }),
	target("ack-before-work", "mutual-exclusion", "a victim acknowledges before it stops working", redis.Repaired(),
		func(o *redis.Options) { o.Ack = redis.BeforeWork }),
	target("late-ack", "mutual-exclusion", "an acknowledgement counts that comes after the thief's own lease, and its validity begins then", redis.Repaired(),
		func(o *redis.Options) { o.Wait, o.WaitCounts = 200, false }),
	target("waiting-is-free", "honest-verify", "the time spent waiting is not taken from the lease", redis.Repaired(),
		func(o *redis.Options) { o.WaitCounts, o.Verify = false, redis.ByClock }),
	target("validity-from-reply", "honest-verify", "validity is counted from the reply", redis.Repaired(),
		func(o *redis.Options) { o.Validity, o.Verify, o.Servers = redis.FromReply, redis.ByClock, 3 }),
	target("unguarded-delete", "mutual-exclusion", "a release deletes the entry, whosever it is", redis.Left(),
		func(o *redis.Options) { o.Release = redis.Unguarded }),
	target("forgetful-server", "mutual-exclusion", "the server has nothing on disk, and forgets its entries when it is restarted", redis.Repaired(),
		func(o *redis.Options) { o.Persistent = false }),
	target("deaf-to-extension", "renewal-honest", "a refused extension counts all the same", redis.Left(),
		func(o *redis.Options) { o.Extension, o.Lease, o.LeaseAbove, o.Margin = redis.Ignored, 12, 0, 0 }),
}
