package consul

import "github.com/lockproof/lockproof/model/lock"

// Name is the backend's name of Consul.
const Name = "consul"

func target(name, breaks, doc string, change func(*Options)) *lock.Target {
	return &lock.Target{
		Name: name, Kind: lock.Semaphore, Backend: Name, Traits: lock.Permits, Breaks: breaks, Doc: doc,
		Offers: []lock.Op{lock.Acquire, lock.Verify, lock.Release}, Fix: Table.Fix(func(o *Options) {
			o.Deletes = true
			change(o)
		}),
	}
}

// stating makes the callers of a lock's acquires state limits of their own.
func stating(t *lock.Target) *lock.Target {
	t.Traits |= lock.Limits
	return t
}

// References are the locks that should violate no property.
var References = []*lock.Target{
	target("consul-semaphore", "", "the guide's semaphore; a contender reads again before it believes, and its key goes with its session", func(*Options) {}),
}

// Mutants are the guide as written, and variants of the reference with one bug each.
var Mutants = []*lock.Target{
	target("consul-unconfirmed", "mutual-exclusion", "the guide as it reads: whoever wins the check-and-set holds, whether or not its session is alive", func(o *Options) { o.Confirm = false }),
	target("consul-released-keys", "no-leak", "the keys of contenders are released with their sessions, as they are unless said otherwise", func(o *Options) { o.Deletes = false }),
	target("consul-holders-only", "stale-belief-ends", "a holder looks for its session among the holders, and not whether that is alive", func(o *Options) { o.Verify = ByHolders }),
	target("consul-two-reads", "mutual-exclusion", "the live contenders are those of an earlier read than the lock's", func(o *Options) { o.Prune = TwoReads }),
	target("consul-no-pruning", "progress", "nobody prunes holders that are not alive", func(o *Options) { o.Prune = NoPruning }),
	target("consul-blind-put", "mutual-exclusion", "the lock is written whatever it has become", func(o *Options) { o.Write = Blindly }),
	target("consul-credulous", "mutual-exclusion", "a lost check-and-set is taken for a won one, and not looked at again", func(o *Options) { o.Claim, o.Confirm = Ignored, false }),
	target("consul-no-contender", "mutual-exclusion", "a contender goes on without its key", func(o *Options) { o.Entry, o.Verify, o.Confirm = Ignored, ByHolders, false }),
	target("consul-one-too-many", "no-phantom-slot", "as many holders as the limit leave room for one more", func(o *Options) { o.Compare = AtMost }),
	stating(target("consul-limits-differ", "limit-respected", "the limit of whoever makes the lock's key is everybody's: who states a smaller one is one of more than it meant", func(*Options) {})),
	target("consul-key-deleted", "mutual-exclusion", "a release deletes the lock's key, as an operator might, and with it the names of all who hold a slot", func(o *Options) { o.Removes = TheKey }),
	target("consul-all-out", "mutual-exclusion", "a release takes everybody from the holders", func(o *Options) { o.Removes = Everyone }),
}
