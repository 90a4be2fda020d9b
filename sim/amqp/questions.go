package amqp

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

var (
	noFaults   = sim.FaultBounds{Late: true}
	oneCrash   = sim.FaultBounds{Crashes: 1, Late: true}
	oneDrop    = sim.FaultBounds{Drops: 1, Late: true}
	oneRestart = sim.FaultBounds{Restarts: 1, Late: true}

	acquire   = question.Do(lock.Acquire)
	verify    = question.Do(lock.Verify)
	release   = question.Do(lock.Release)
	removeOne = question.Do(lock.Remove, 1)
	addOne    = question.Do(lock.Add, 1)
	swap      = ops(removeOne, addOne)
	session   = ops(acquire, verify, release)

	overAndOver = ops(removeOne, addOne, removeOne, addOne, removeOne)
)

func ops(o ...scenario.Operation) []scenario.Operation { return o }

var slotsOnly = []property.Property{property.ContiguousSlots, property.AdminExclusion, property.RemovalDrains, property.ExactCount, property.NoLeak, property.Progress}

// questions are those that the guidelines for these locks leave open.
var questions = []question.Question{
	{Ask: "Adding, read literally, declares only A[C+X]. For X > 1, what does that make?", Rows: []question.Row{
		question.Visit("literal, add 1", question.Admins(1, 1, noFaults, ops(addOne), "add-reading=literal"), slotsOnly...),
		question.Visit("literal, add 2", question.Admins(1, 1, noFaults, ops(question.Do(lock.Add, 2)), "add-reading=literal"), slotsOnly...),
		question.Visit("intended, add 2", question.Admins(1, 1, noFaults, ops(question.Do(lock.Add, 2))), slotsOnly...),
		question.Visit("intended, add 2, one crash", question.Admins(1, 1, oneCrash, ops(question.Do(lock.Add, 2))), slotsOnly...),
	}, Answer: "A hole: slots C+1 to C+X-1 are never made, so C stays what it was and the new slot lies above the hole. Adding must declare every slot from C+1 upward, one after the other."},
	{Ask: "Removing, read literally, deletes from C down to C-X, one queue too many. And destroying down to 0?", Rows: []question.Row{
		question.Visit("literal, remove 1 of 2", question.Admins(1, 2, noFaults, ops(removeOne), "remove-reading=literal"), slotsOnly...),
		question.Visit("literal, destroy", question.Admins(1, 2, noFaults, ops(question.Do(lock.Destroy)), "remove-reading=literal"), slotsOnly...),
		question.Visit("intended, remove 1 of 2", question.Admins(1, 2, noFaults, ops(removeOne)), slotsOnly...),
		question.Visit("intended, destroy", question.Admins(1, 2, noFaults, ops(question.Do(lock.Destroy))), slotsOnly...),
	}, Answer: "Removing X takes X+1 slots away. Destroying down to 0 only deletes a queue that does not exist, which RabbitMQ answers with delete-ok: one command wasted, no harm."},
	{Ask: "Two administrators without the administration mutex: which holes, and how few steps?", Rows: []question.Row{
		question.Visit("no mutex, both remove 1 and add 1", question.Admins(2, 2, noFaults, swap, "admin-mutex=false"), slotsOnly...),
		question.Visit("no mutex, both add 1", question.Admins(2, 1, noFaults, ops(addOne), "admin-mutex=false"), slotsOnly...),
		question.Visit("no mutex, both remove 1", question.Admins(2, 3, noFaults, ops(removeOne), "admin-mutex=false"), slotsOnly...),
		question.Visit("mutex, both remove 1 and add 1", question.Admins(2, 2, noFaults, swap), slotsOnly...),
		question.Visit("mutex, one crash noticed late", question.Admins(2, 2, oneCrash, swap), slotsOnly...),
	}, Answer: "Without the mutex slots get lost (two additions make one slot) and holes appear; with it every interleaving is safe, also when its holder dies and the broker is late to notice: others are then told busy."},
	{Ask: "Ascending deletion that dies half-way: which slots stay valid, and what prunes them?", Rows: []question.Row{
		question.Visit("ascending, remove 2 of 3, one crash", question.Admins(1, 3, oneCrash, ops(question.Do(lock.Remove, 2)), "order=ascending"), slotsOnly...),
		question.Visit("ascending, remove 2 of 3, no crash", question.Admins(1, 3, noFaults, ops(question.Do(lock.Remove, 2)), "order=ascending"), slotsOnly...),
		question.Visit("descending, remove 2 of 3, one crash", question.Admins(1, 3, oneCrash, ops(question.Do(lock.Remove, 2))), slotsOnly...),
	}, Answer: "Slots below the hole stay valid; those above it are stranded: neither granted nor counted, for as long as nobody overshoots far enough (question 5). Without a crash both orders come to the same. Descending deletion leaves no hole wherever it stops."},
	{Ask: "Overshoot T: which T repairs which damage, and what does overshooting itself break when two administrators use different mutexes?", Rows: []question.Row{
		question.Visit("T=0 after a literal add 2", question.Admins(1, 1, noFaults, ops(question.Do(lock.Add, 2), question.Do(lock.Destroy)), "add-reading=literal"), slotsOnly...),
		question.Visit("T=1 after a literal add 2", question.Admins(1, 1, noFaults, ops(question.Do(lock.Add, 2), question.Do(lock.Destroy)), "add-reading=literal", "overshoot=1"), slotsOnly...),
		question.Visit("T=2 after a literal add 2", question.Admins(1, 1, noFaults, ops(question.Do(lock.Add, 2), question.Do(lock.Destroy)), "add-reading=literal", "overshoot=2"), slotsOnly...),
		question.Visit("T=0, no common mutex, both add 1", question.Admins(2, 1, noFaults, ops(addOne), "admin-mutex=false"), slotsOnly...),
		question.Visit("T=1, no common mutex, both add 1", question.Admins(2, 1, noFaults, ops(addOne), "admin-mutex=false", "overshoot=1"), slotsOnly...),
		question.Visit("T=0, no common mutex, both add 1, a client", question.Both(1, 0, noFaults, ops(acquire, verify), ops(addOne), "admin-mutex=false").Beside(2)),
		question.Visit("T=1, no common mutex, both add 1, a client", question.Both(1, 0, noFaults, ops(acquire, verify), ops(addOne), "admin-mutex=false", "overshoot=1").Beside(2)),
		question.Visit("T=2, mutex, both remove 1 and add 1, one crash", question.Admins(2, 2, oneCrash, swap, "overshoot=2"), slotsOnly...),
	}, Answer: "T repairs a hole if the highest stranded slot is at most C+T, and only when the next operation comes. Under one mutex overshooting breaks nothing. Under two it deletes what the other has just added: a holder is told that its slot was removed though nobody removed any."},
	{Ask: "Is verifying before returning success needed, what window does it close, and what stays open?", Rows: []question.Row{
		question.Visit("no verification", question.Both(1, 1, noFaults, ops(acquire), ops(removeOne), "verify-first=false")),
		question.Visit("verification", question.Both(1, 1, noFaults, ops(acquire), ops(removeOne))),
		question.Visit("verification, removed and added again", question.Both(2, 1, noFaults, ops(acquire, verify), swap)),
	}, Answer: "It is: without it a client is granted a slot that was removed between its look and its claim. It closes that window. What stays open is a removal after the verification: the client then holds a removed slot until its next verify, which the guidelines permit. The price is that a client may withdraw, while another was told that all is taken."},
	{Ask: "After RESOURCE_LOCKED: restart at 1, stay, or start at random: cost, starvation, livelock, and is a retry limit needed?", Rows: []question.Row{
		question.Visit("restart at 1", question.Clients(3, 2, noFaults, ops(acquire, release), "restart=first"), property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire),
		question.Visit("stay", question.Clients(3, 2, noFaults, ops(acquire, release), "restart=stay"), property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire),
		question.Visit("start at random, up to the one at hand", question.Clients(3, 2, noFaults, ops(acquire, release), "restart=random"), property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire),
		question.Visit("start at any number", question.Clients(2, 2, noFaults, ops(acquire, release), "restart=any"), property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire),
		question.Visit("restart at 1, no retry", question.Clients(3, 2, noFaults, ops(acquire, release), "restart=first", "retries=0"), property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire),
		question.Visit("restart at 1, one retry, three rounds", question.Clients(3, 2, noFaults, ops(acquire, release), "restart=first", "retries=1").Again(3), property.Progress),
		question.Visit("no limit", question.Clients(3, 2, noFaults, ops(acquire), "retries=0").Again(1).Of("retries-forever"), property.Progress),
	}, Answer: "At 1, at the one at hand, or at random up to that: all three are correct and none livelocks, as whoever loses a race lost it to somebody who won. Any other number, which the guidelines permit, is not: a scan that goes on further up passes slots that it has not looked at, or that are free by now, and finds a lock full that is not. Staying is cheapest, since what was seen taken below need not be looked at again. One client can lose again and again while others acquire and release (starvation), so a limit is needed, and giving up must be told apart from \"full\"."},
	{Ask: "Remove then add between two verifies: who believes what?", Rows: []question.Row{
		question.Visit("one slot, removed and added again", question.Both(2, 1, noFaults, ops(acquire, verify, verify), swap)),
		question.Visit("the same, and verify gives up in silence", question.Both(2, 1, noFaults, ops(acquire, verify), swap).Of("gives-up-silently"), property.NoFalseHold, property.MutualExclusion),
	}, Answer: "The holder that verifies only after the slot is back never learns that it was gone, and that is safe: its B queue was there all along, so nobody else was granted the slot. Who verifies in between gives the slot up and says so."},
	{Ask: "Relinquishing by closing the channel: does it relinquish?", Rows: []question.Row{
		question.Visit("close the channel", question.Clients(2, 1, noFaults, session, "release=close-channel")),
		question.Visit("close the connection", question.Clients(2, 1, noFaults, session, "release=close-connection")),
		question.Visit("delete B", question.Clients(2, 1, noFaults, session)),
	}, Answer: "No. An exclusive queue belongs to the connection: after the channel is closed the slot is held as before, and nobody has it."},
	{Ask: "Two lock clients on one connection.", Rows: []question.Row{
		question.Visit("one connection, a channel each", question.Clients(2, 1, noFaults, ops(acquire), "connection=shared"), property.MutualExclusion, property.Linearizable),
		question.Visit("a connection each", question.Clients(2, 1, noFaults, ops(acquire)), property.MutualExclusion, property.Linearizable),
	}, Answer: "Both are told that they hold the slot: a queue is exclusive to the connection, and both are it. One connection can be one client only."},
	{Ask: "A connection lost without anyone noticing: how long do two clients believe they hold one slot; what does a driver that reconnects by itself do to verify?", Rows: []question.Row{
		question.Visit("the broker drops a connection", question.Clients(2, 1, oneDrop, session)),
		question.Visit("the client dies, the broker is late", question.Clients(2, 1, oneCrash, session)),
		question.Visit("the driver reconnects in verify", question.Clients(2, 1, oneDrop, session).Of("verify-reconnects"), property.StaleBeliefEnds, property.HonestVerify, property.MutualExclusion),
	}, Answer: "Until the next verify, however long that is: no lock without fencing can do better. A driver that reconnects by itself makes it for ever, as the A queue is there on any connection: verify must run on the connection that acquired."},
	{Ask: "Probing by passive declare instead of publish: cost, and broken channels, when the queue is exclusive.", Rows: []question.Row{
		question.Visit("passive declare", question.Both(2, 1, noFaults, session, swap, "existence=passive")),
		question.Visit("publish", question.Both(2, 1, noFaults, session, swap)),
	}, Answer: "Every queue that is missing, or another's, breaks the channel: two commands to mend it, and no two probes in one round trip. Correct, and too dear."},
	{Ask: "Probing by publish: what happens to the probes' messages; x-max-length: 0, x-overflow: reject-publish, per-message TTL.", Rows: []question.Row{
		question.Visit("no limit", question.Clients(2, 1, noFaults, session, "max-length=none")),
		question.Visit("x-max-length 0", question.Clients(2, 1, noFaults, session)),
		question.Visit("x-max-length 0, reject-publish", question.Clients(2, 1, noFaults, session, "overflow=reject-publish")),
		question.Visit("x-message-ttl 0", question.Clients(2, 1, noFaults, session, "max-length=none", "message-ttl=0")),
		question.Visit("reject-publish, a nack taken for absence", question.Clients(2, 1, noFaults, session).Of("nack-is-absence"), property.Linearizable),
	}, Answer: "They pile up in A and B queues, for ever in A. x-max-length 0 drops them at no cost; a TTL of 0 does the same; reject-publish turns every answer into a nack, which then must be read as \"it exists\", and does not go together with transactions at all."},
	{Ask: "Transient A queues and a broker restart; x-expires on A queues that are only published to.", Rows: []question.Row{
		question.Visit("transient", question.Both(1, 1, oneRestart, session, ops(question.Do(lock.Count)), "durable=false")),
		question.Visit("durable", question.Both(1, 1, oneRestart, session, ops(question.Do(lock.Count)))),
		question.Visit("x-expires of 10 ms", question.Clients(1, 1, noFaults, ops(acquire, verify), "expires=10"), property.ContiguousSlots, property.HonestVerify, property.RemovalDrains),
	}, Answer: "A restart takes transient slots away, and nobody told the holders. A probe by publish is not a use: a slot with x-expires goes away under clients that look at it all day."},
	{Ask: "A client scanning past a hole: capacity lost, count understated, slots above the hole still granted?", Rows: []question.Row{
		question.Visit("an administrator dies half-way, clients acquire", question.Both(2, 3, oneCrash, ops(acquire), ops(question.Do(lock.Remove, 2)), "order=ascending"), property.ContiguousSlots, property.Progress, property.NoPhantomSlot),
		question.Visit("count after a literal add 2", question.Admins(1, 1, noFaults, ops(question.Do(lock.Add, 2), question.Do(lock.Count)), "add-reading=literal"), property.ContiguousSlots, property.ExactCount),
	}, Answer: "A scan stops at the first slot that does not exist: slots above a hole are never granted, and count says so: it counts what can be acquired. The capacity is lost until somebody prunes or refills."},
	{Ask: "Transactions instead of confirms: when does the return arrive?", Rows: []question.Row{
		question.Visit("transactions, RabbitMQ 3", question.Both(2, 1, noFaults, session, swap, "confirm=transactions")),
		question.Visit("transactions, RabbitMQ 4", question.Both(2, 1, noFaults, session, swap, "confirm=transactions", "tx-routing=publish")),
		question.Visit("confirms", question.Both(2, 1, noFaults, session, swap)),
		question.Visit("transactions, RabbitMQ 3, removed and added over and over", question.Both(1, 1, noFaults, ops(acquire), overAndOver, "confirm=transactions")),
		question.Visit("transactions, RabbitMQ 4, removed and added over and over", question.Both(1, 1, noFaults, ops(acquire), overAndOver, "confirm=transactions", "tx-routing=publish")),
	}, Answer: "With the commit, before commit-ok: a probe is two commands. RabbitMQ 3 looks the queue up at the commit, and that is correct. RabbitMQ 4 does so when the message is published, and fails the commit with 406 if the queue is gone by then: the channel has to be opened again and the probe repeated, and whoever repeats it a few times only fails, though nothing went wrong, where a slot is removed and added as often. It costs a commit for every probe, and the probes of one round trip can't share one, as a return does not say which commit it belongs to."},
	{Ask: "A semaphore whose name looks like another's queue.", Rows: []question.Row{
		question.Visit("jobs and jobs-1-A, names of the reference", question.Clients(2, 1, noFaults, ops(acquire)).Named("jobs", "jobs-1-A"), property.NameSafety, property.MutualExclusion),
		question.Visit("jobs and jobs1, names without separators", question.Clients(2, 1, noFaults, ops(acquire)).Named("jobs", "jobs1").Of("names-run-together"), property.NameSafety),
		question.Visit("the administration mutex has the lock's name", question.Clients(2, 1, noFaults, ops(acquire)).Named("jobs", "jobs-1-A").Of("admin-mutex-is-lock-name"), property.NameSafety),
	}, Answer: "With the role at the end of every name, the administration mutex's too, no name reads in two ways. With the administration mutex under the semaphore's bare name, a semaphore called jobs-1-A has the slot of jobs for its mutex."},
	{Ask: "Waiting on a holder of a slot that was not removed.", Rows: []question.Row{
		question.Visit("remove, then wait", question.Both(2, 1, noFaults, session, ops(removeOne, question.Do(lock.Wait, 1)))),
		question.Visit("wait without removing", question.Both(2, 1, noFaults, session, ops(question.Do(lock.Wait, 1)))),
	}, Answer: "It returns when it finds the slot free at one moment, and the slot may be taken again before it has returned: the answer is true and useless. After a removal nobody can take it again, and the answer lasts."},
	{Ask: "A broker without confirms and transactions: is it enough to declare exclusive queues again and again?", Rows: []question.Row{
		question.Visit("claim unseen, verify both", question.Both(2, 1, noFaults, session, swap, declaring("unseen", "both")...)),
		question.Visit("claim unseen, verify the claim", question.Both(2, 1, noFaults, session, swap, declaring("unseen", "claim")...)),
		question.Visit("claim unseen, verify the slot", question.Both(2, 1, noFaults, session, swap, declaring("unseen", "slot")...)),
		question.Visit("claim seen, verify both", question.Both(2, 1, noFaults, session, swap, declaring("seen", "both")...)),
		question.Visit("claim unseen, verify both, a crash", question.Both(2, 1, oneCrash, session, swap, declaring("unseen", "both")...)),
		question.Visit("claim unseen, verify both, a drop", question.Both(2, 1, oneDrop, session, swap, declaring("unseen", "both")...)),
		question.Visit("the driver reconnects in verify, and claims anew", question.Clients(2, 1, oneDrop, session).Of("reclaim-reconnects"), property.StaleBeliefEnds, property.MutualExclusion),
		question.Visit("transactions", question.Both(2, 1, noFaults, session, swap, "confirm=transactions")),
	}, Answer: "It is enough, and it is dear. Claims need not be looked for first: a slot that is taken breaks the channel instead, which is opened again without its connection, so that what is held stays held. Declaring one's own queue again says that it is one's own, and nothing of the slot: verify has to ask for the A queue as well, in the same round trip, or for that alone. It does not cure a driver that reconnects by itself, which declares the queue anew. Looking first costs more, since a slot that is free breaks a channel too. Transactions take more commands, and break none."},
}

// declaring returns the options for a broker without confirms and transactions. Clients then publish nothing, and
// declare queues instead.
func declaring(claim, verify string) []string {
	return []string{"existence=passive", "confirm=none", "claim=" + claim, "verify=" + verify, "pipeline=1"}
}

func init() {
	question.Register("", &question.Set{
		Title: "the guidelines' open questions",
		// Without pipelining each step of an execution is one command, so executions have as few steps as possible.
		Options:   question.Options("pipeline=0"),
		Questions: questions,
		Combined: &question.Combinations{
			Options: question.Options("pipeline=0", "retries=1", "admin-retries=1"),
			Dimensions: []question.Dimension{
				{Option: "order", Values: []string{"descending", "ascending"}},
				{Option: "overshoot", Values: []string{"2", "0"}},
				{Option: "admin-mutex", Values: []string{"true", "false"}},
				{Option: "verify-first", Values: []string{"true", "false"}},
				{Option: "restart", Values: []string{"first", "stay", "random"}},
			},
			// These configurations have one client and two administrators, or two clients and one administrator, with a
			// crash and without.
			Stood: []question.Configuration{
				question.Both(1, 2, sim.FaultBounds{}, ops(acquire, verify), swap).Beside(2),
				question.Both(1, 1, sim.FaultBounds{}, ops(acquire), nil).Beside(2).InTurns(ops(addOne), ops(removeOne)),
				question.Both(2, 2, sim.FaultBounds{}, session, swap),
				question.Both(1, 2, sim.FaultBounds{Crashes: 1}, ops(acquire, verify), ops(question.Do(lock.Remove, 2))),
				question.Both(1, 1, oneCrash, ops(acquire, verify), swap).Beside(2),
			},
			Any: &question.Configuration{
				Clients: sim.AnyNumber, Admins: 1, Slots: 1, Calls: session, AdminCalls: swap, Faults: sim.FaultBounds{Crashes: sim.AnyNumber},
			},
		},
	})
}
