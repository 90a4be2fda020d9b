package redis

import "github.com/lockproof/lockproof/model/lock"

// Name is the backend's name of Redis.
const Name = "redis"

const traits = lock.Leases | lock.Priorities | lock.Deadlines | lock.Acknowledged

// target makes a target from the options base, with a change. Options that neither sets are those of a scenario.
func target(name, breaks, doc string, base Options, change func(*Options)) *lock.Target {
	return &lock.Target{
		Name: name, Kind: lock.Mutex, Backend: Name, Traits: traits, Breaks: breaks, Doc: doc,
		Fix: Table.Fix(func(o *Options) {
			o.Entry, o.Stolen, o.GiveUp, o.Chain, o.GaveUp = base.Entry, base.Stolen, base.GiveUp, base.Chain, base.GaveUp
			change(o)
		}),
	}
}

func same(*Options) {}

// three sets the number of servers to three, as in Redlock.
func three(o *Options) { o.Servers = 3 }

// References are the combinations of options that should violate no property.
var References = []*lock.Target{
	target("priority-lock", "", "one server; an entry keeps the claims of whom it was stolen from, each with its own lease", Repaired(), same),
	target("priority-redlock", "", "the same on three servers", Repaired(), three),
	target("priority-lock-left", "", "one server; a stolen entry lives as long as the one it replaced, and is left to expire by a thief without success", Left(), same),
}

// Mutants are the text as written, and variants with one bug each. They are based on Repaired or, if the bug is in a
// part that Repaired does not have, on Left.
var Mutants = []*lock.Target{
	target("priority-text", "mutual-exclusion", "the text as it reads, on one server, all leases the same", Text(), same),
	target("short-lease", "mutual-exclusion", "a thief's lease is shorter than its victim's, and so is the entry's", Left(),
		func(o *Options) { o.Stolen, o.LeaseAbove, o.Margin = OfThief, o.Lease/3, 0 }),
	target("failed-thief-deletes", "mutual-exclusion", "a thief without success deletes the entries that it has overwritten", Left(),
		func(o *Options) { o.GiveUp, o.Servers = GiveUpDelete, 3 }),
	target("one-victim", "mutual-exclusion", "one victim is asked of several", Left(),
		func(o *Options) { o.Victims, o.Servers = FirstVictim, 3 }),
	target("no-victim", "victim-acknowledged", "no victim is asked", Repaired(), func(o *Options) { o.Victims = NoVictim }),
	target("impatient-thief", "mutual-exclusion", "a thief takes silence for consent after a quarter of its lease (f = 0.25)", Repaired(),
		func(o *Options) { o.Wait, o.Unanswered = 25, Proceed }),
	target("not-mine", "mutual-exclusion", "a thief that gave up disowns the lock though its victim may still work", Left(),
		func(o *Options) { o.GaveUp = Disown }),
	target("chain-at-once", "mutual-exclusion", "a thief that waits acknowledges before its own victim has", Left(),
		func(o *Options) { o.Chain = ChainAtOnce }),
	target("ack-before-work", "mutual-exclusion", "a victim acknowledges before it stops working", Repaired(),
		func(o *Options) { o.Ack = BeforeWork }),
	target("late-ack", "mutual-exclusion", "an acknowledgement counts that comes after the thief's own lease, and its validity begins then", Repaired(),
		func(o *Options) { o.Wait, o.WaitCounts = 200, false }),
	target("waiting-is-free", "honest-verify", "the time spent waiting is not taken from the lease", Repaired(),
		func(o *Options) { o.WaitCounts, o.Verify = false, ByClock }),
	target("validity-from-reply", "honest-verify", "validity is counted from the reply", Repaired(),
		func(o *Options) { o.Validity, o.Verify, o.Servers = FromReply, ByClock, 3 }),
	target("unguarded-delete", "mutual-exclusion", "a release deletes the entry, whosever it is", Left(),
		func(o *Options) { o.Release = Unguarded }),
	target("forgetful-server", "mutual-exclusion", "the server has nothing on disk, and forgets its entries when it is restarted", Repaired(),
		func(o *Options) { o.Persistent = false }),
	target("deaf-to-extension", "renewal-honest", "a refused extension counts all the same", Left(),
		func(o *Options) { o.Extension, o.Lease, o.LeaseAbove, o.Margin = Ignored, 12, 0, 0 }),
}
