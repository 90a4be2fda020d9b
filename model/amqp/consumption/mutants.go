package consumption

import "github.com/lockproof/lockproof/model/lock"

// mutant returns a mutant of a reference. of is the reference's name, change gives the mutant one bug, and breaks is
// the name of the property that the bug violates.
func mutant(of, name, breaks, doc string, change func(*Settings)) *lock.Target {
	for _, r := range References {
		if r.Name != of {
			continue
		}
		t := *r
		t.Name, t.Breaks, t.Doc, t.Skips = name, breaks, doc, unskipped(r.Skips, breaks)
		t.Fix = Table.Fix(func(o *Settings) {
			if r.Fix != nil {
				*o = Table.Of(r.Fix(Table.Options(*o)))
			}
			change(o)
		})
		return &t
	}
	panic("consumption: no reference " + of)
}

// unskipped returns a copy of skips without the property p, so that p is judged: the mutant is to violate it.
func unskipped(skips map[string]string, p string) map[string]string {
	out := make(map[string]string)
	for name, why := range skips {
		if name != p {
			out[name] = why
		}
	}
	return out
}

// Mutants are the mutants: references with one bug each.
var Mutants = []*lock.Target{
	mutant("consumer-mutex", "verify-by-consumer-count", "honest-verify",
		"verify asks how many consumers the queue has, on another channel if its own is gone: one, and it may be the successor",
		func(o *Settings) { o.Verify = ByCount }),
	mutant("consumer-mutex", "verify-believes", "stale-belief-ends",
		"verify asks nobody: the client has heard nothing of a loss",
		func(o *Settings) { o.Verify = ByBelief }),
	mutant("consumer-mutex", "ordinary-consumer", "mutual-exclusion",
		"the consumer is not exclusive: there may be any number of them",
		func(o *Settings) { o.Exclusive = false }),
	mutant("consumer-persistent-mutex", "destroy-evicts", "removal-drains",
		"destroying it deletes the queue, whoever consumes it",
		func(o *Settings) { o.Destroy = Evict }),
	mutant("consumer-persistent-mutex", "delete-under-consumer", "mutual-exclusion",
		"the queue is deleted and declared again under its consumer: until basic.cancel has arrived, two hold the lock",
		func(o *Settings) { o.Destroy = Evict }),
	mutant("consumer-persistent-mutex", "no-cancel-notification", "honest-verify",
		"the driver does not announce consumer_cancel_notify: the end of the queue is never told, and another of its name answers",
		func(o *Settings) { o.Destroy, o.Notify = Evict, false }),
	mutant("consumer-persistent-mutex", "transient-mutex-queue", "survives-restart",
		"the queue of a persistent mutex is not durable",
		func(o *Settings) { o.Durable = false }),
	mutant("waiting-token-semaphore", "greedy-consumer", "no-leak",
		"consumers have no prefetch count: one takes every token there is",
		func(o *Settings) { o.Prefetch = 0 }),
	mutant("waiting-token-semaphore", "standing-consumer", "effective-release",
		"the consumer is not cancelled when it has its token: the one that is given back comes straight to it",
		func(o *Settings) { o.Standing = true }),
	mutant("plain-token-semaphore", "count-of-ready", "exact-count",
		"count is the number of messages in the queue, which leaves out those that are held",
		func(*Settings) {}),
	mutant("token-semaphore", "count-without-mutex", "exact-count",
		"count does not take the administration mutex: it finds the account half taken by somebody who removes slots",
		func(o *Settings) { o.CountMutex = false }),
	mutant("plain-token-semaphore", "delete-under-holder", "mutual-exclusion",
		"the number of slots is changed by deleting the queue and making it anew: its holders are told nothing",
		func(*Settings) {}),
	mutant("plain-token-semaphore", "verify-by-name", "honest-verify",
		"verify sees that the queue is there, and that its channel is: the queue may be another of that name",
		func(*Settings) {}),
	mutant("plain-token-semaphore", "create-counts-ready", "contiguous-slots",
		"creating a semaphore that is there tops up what is ready: as many more as are held",
		func(*Settings) {}),
	mutant("token-semaphore", "ack-then-publish", "contiguous-slots",
		"a token is given back by acknowledging it and publishing another: whoever dies in between takes a slot along",
		func(o *Settings) { o.Release = AckPublish }),
	mutant("token-semaphore", "publish-then-ack", "contiguous-slots",
		"a token is given back by publishing another and acknowledging the first: whoever dies in between leaves both",
		func(o *Settings) { o.Release = PublishAck }),
	mutant("token-semaphore", "publish-again", "contiguous-slots",
		"a token whose publish was not answered is published again: it may have been there",
		func(o *Settings) { o.Release, o.Resend = AckPublish, true }),
	mutant("token-semaphore", "transient-tokens", "survives-restart",
		"tokens are not persistent: a restart of the broker leaves the queue, and no slot",
		func(o *Settings) { o.Persistent = false }),
	mutant("token-semaphore", "consumer-timeout", "removal-drains",
		"the broker's consumer_timeout is shorter than the lock is held: it takes the token back",
		func(o *Settings) { o.Timeout = 20 }),
	mutant("token-semaphore", "token-verify-believes", "stale-belief-ends",
		"verify asks nobody: there is nothing harmless to ask about a token",
		func(o *Settings) { o.Verify = ByBelief }),
}
