package engine

import (
	"strings"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// set is options as name=value.
func set(options ...string) [][2]string {
	var out [][2]string
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		out = append(out, [2]string{name, value})
	}
	return out
}

func do(op lock.Op, arg ...uint8) scenario.Operation {
	o := scenario.Operation{Op: op}
	if len(arg) > 0 {
		o.Arg = arg[0]
	}
	return o
}

func ops(o ...scenario.Operation) []scenario.Operation { return o }

func about(p ...property.Property) []property.Property { return p }

// admins is administrators alone, who call the same.
func admins(n, slots int, crashes int, calls []scenario.Operation, options ...string) Exploration {
	return Exploration{
		Admins: n, Slots: slots, AdminCalls: calls, Options: set(options...),
		Faults: sim.FaultBounds{Crashes: crashes, Late: true},
	}
}

// clients is clients alone.
func clients(n, slots int, faults sim.FaultBounds, calls []scenario.Operation, options ...string) Exploration {
	return Exploration{Clients: n, Slots: slots, Calls: calls, Options: set(options...), Faults: faults}
}

// both is clients and one administrator.
func both(n, slots int, faults sim.FaultBounds, calls, admin []scenario.Operation, options ...string) Exploration {
	return Exploration{Clients: n, Admins: 1, Slots: slots, Calls: calls, AdminCalls: admin, Options: set(options...), Faults: faults}
}

var (
	noFaults   = sim.FaultBounds{Late: true}
	oneCrash   = sim.FaultBounds{Crashes: 1, Late: true}
	oneDrop    = sim.FaultBounds{Drops: 1, Late: true}
	oneRestart = sim.FaultBounds{Restarts: 1, Late: true}

	acquire   = do(lock.Acquire)
	verify    = do(lock.Verify)
	release   = do(lock.Release)
	removeOne = do(lock.Remove, 1)
	addOne    = do(lock.Add, 1)
	swap      = ops(removeOne, addOne)
	session   = ops(acquire, verify, release)

	overAndOver = ops(removeOne, addOne, removeOne, addOne, removeOne)
)

// both2 is clients and two administrators.
func both2(n, slots int, calls, admin []scenario.Operation, options ...string) Exploration {
	e := both(n, slots, noFaults, calls, admin, options...)
	e.Admins = 2
	return e
}

// mutated is an exploration of a mutant.
func mutated(name string, e Exploration) Exploration {
	e.Target = lock.TargetNamed(name)
	return e
}

// named is an exploration of two locks.
func named(e Exploration, names ...string) Exploration {
	e.Names = names
	return e
}

// again is an exploration of more rounds.
func again(rounds int, e Exploration) Exploration {
	e.Rounds = rounds
	return e
}

var slotsOnly = about(property.ContiguousSlots, property.AdminExclusion, property.RemovalDrains, property.ExactCount, property.NoLeak, property.Progress)

// questions are those of the design, in its order.
var questions = []question{
	{1, "Adding, read literally, declares only A[C+X]. For X > 1, what does that make?", []row{
		{"literal, add 1", admins(1, 1, 0, ops(addOne), "add-reading=literal"), slotsOnly},
		{"literal, add 2", admins(1, 1, 0, ops(do(lock.Add, 2)), "add-reading=literal"), slotsOnly},
		{"intended, add 2", admins(1, 1, 0, ops(do(lock.Add, 2))), slotsOnly},
		{"intended, add 2, one crash", admins(1, 1, 1, ops(do(lock.Add, 2))), slotsOnly},
	}, "A hole: slots C+1 to C+X-1 are never made, so C stays what it was and the new slot lies above the hole. Adding must declare every slot from C+1 upward, one after the other."},
	{2, "Removing, read literally, deletes from C down to C-X, one queue too many. And destroying down to 0?", []row{
		{"literal, remove 1 of 2", admins(1, 2, 0, ops(removeOne), "remove-reading=literal"), slotsOnly},
		{"literal, destroy", admins(1, 2, 0, ops(do(lock.Destroy)), "remove-reading=literal"), slotsOnly},
		{"intended, remove 1 of 2", admins(1, 2, 0, ops(removeOne)), slotsOnly},
		{"intended, destroy", admins(1, 2, 0, ops(do(lock.Destroy))), slotsOnly},
	}, "Removing X takes X+1 slots away. Destroying down to 0 only deletes a queue that does not exist, which RabbitMQ answers with delete-ok: one command wasted, no harm."},
	{3, "Two administrators without the administration mutex: which holes, and how few steps?", []row{
		{"no mutex, both remove 1 and add 1", admins(2, 2, 0, swap, "admin-mutex=false"), slotsOnly},
		{"no mutex, both add 1", admins(2, 1, 0, ops(addOne), "admin-mutex=false"), slotsOnly},
		{"no mutex, both remove 1", admins(2, 3, 0, ops(removeOne), "admin-mutex=false"), slotsOnly},
		{"mutex, both remove 1 and add 1", admins(2, 2, 0, swap), slotsOnly},
		{"mutex, one crash noticed late", admins(2, 2, 1, swap), slotsOnly},
	}, "Without the mutex slots get lost (two additions make one slot) and holes appear; with it every interleaving is safe, also when its holder dies and the broker is late to notice: others are then told busy."},
	{4, "Ascending deletion that dies half-way: which slots stay valid, and what prunes them?", []row{
		{"ascending, remove 2 of 3, one crash", admins(1, 3, 1, ops(do(lock.Remove, 2)), "order=ascending"), slotsOnly},
		{"ascending, remove 2 of 3, no crash", admins(1, 3, 0, ops(do(lock.Remove, 2)), "order=ascending"), slotsOnly},
		{"descending, remove 2 of 3, one crash", admins(1, 3, 1, ops(do(lock.Remove, 2))), slotsOnly},
	}, "Slots below the hole stay valid; those above it are stranded: neither granted nor counted, for as long as nobody overshoots far enough (question 5). Without a crash both orders come to the same. Descending deletion leaves no hole wherever it stops."},
	{5, "Overshoot T: which T repairs which damage, and what does overshooting itself break when two administrators use different mutexes?", []row{
		{"T=0 after a literal add 2", admins(1, 1, 0, ops(do(lock.Add, 2), do(lock.Destroy)), "add-reading=literal"), slotsOnly},
		{"T=1 after a literal add 2", admins(1, 1, 0, ops(do(lock.Add, 2), do(lock.Destroy)), "add-reading=literal", "overshoot=1"), slotsOnly},
		{"T=2 after a literal add 2", admins(1, 1, 0, ops(do(lock.Add, 2), do(lock.Destroy)), "add-reading=literal", "overshoot=2"), slotsOnly},
		{"T=0, no common mutex, both add 1", admins(2, 1, 0, ops(addOne), "admin-mutex=false"), slotsOnly},
		{"T=1, no common mutex, both add 1", admins(2, 1, 0, ops(addOne), "admin-mutex=false", "overshoot=1"), slotsOnly},
		{"T=0, no common mutex, both add 1, a client", both2(1, 0, ops(acquire, verify), ops(addOne), "admin-mutex=false"), nil},
		{"T=1, no common mutex, both add 1, a client", both2(1, 0, ops(acquire, verify), ops(addOne), "admin-mutex=false", "overshoot=1"), nil},
		{"T=2, mutex, both remove 1 and add 1, one crash", admins(2, 2, 1, swap, "overshoot=2"), slotsOnly},
	}, "T repairs a hole if the highest stranded slot is at most C+T, and only when the next operation comes. Under one mutex overshooting breaks nothing. Under two it deletes what the other has just added: a holder is told that its slot was removed though nobody removed any."},
	{6, "Is verifying before returning success needed, what window does it close, and what stays open?", []row{
		{"no verification", both(1, 1, noFaults, ops(acquire), ops(removeOne), "verify-first=false"), nil},
		{"verification", both(1, 1, noFaults, ops(acquire), ops(removeOne)), nil},
		{"verification, removed and added again", both(2, 1, noFaults, ops(acquire, verify), swap), nil},
	}, "It is: without it a client is granted a slot that was removed between its look and its claim. It closes that window. What stays open is a removal after the verification: the client then holds a removed slot until its next verify, which the guidelines permit. The price is that a client may withdraw, while another was told that all is taken."},
	{7, "After RESOURCE_LOCKED: restart at 1, stay, or start at random: cost, starvation, livelock, and is a retry limit needed?", []row{
		{"restart at 1", clients(3, 2, noFaults, ops(acquire, release), "restart=first"), about(property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire)},
		{"stay", clients(3, 2, noFaults, ops(acquire, release), "restart=stay"), about(property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire)},
		{"start at random, up to the one at hand", clients(3, 2, noFaults, ops(acquire, release), "restart=random"), about(property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire)},
		{"start at any number", clients(2, 2, noFaults, ops(acquire, release), "restart=any"), about(property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire)},
		{"restart at 1, no retry", clients(3, 2, noFaults, ops(acquire, release), "restart=first", "retries=0"), about(property.Progress, property.MutualExclusion, property.Linearizable, property.CheapAcquire)},
		{"restart at 1, one retry, three rounds", again(3, clients(3, 2, noFaults, ops(acquire, release), "restart=first", "retries=1")), about(property.Progress)},
		{"no limit", mutated("retries-forever", again(1, clients(3, 2, noFaults, ops(acquire), "retries=0"))), about(property.Progress)},
	}, "At 1, at the one at hand, or at random up to that: all three are correct and none livelocks, as whoever loses a race lost it to somebody who won. Any other number, which the guidelines permit, is not: a scan that goes on further up passes slots that it has not looked at, or that are free by now, and finds a lock full that is not. Staying is cheapest, since what was seen taken below need not be looked at again. One client can lose again and again while others acquire and release (starvation), so a limit is needed, and giving up must be told apart from \"full\"."},
	{8, "Remove then add between two verifies: who believes what?", []row{
		{"one slot, removed and added again", both(2, 1, noFaults, ops(acquire, verify, verify), swap), nil},
		{"the same, and verify gives up in silence", mutated("gives-up-silently", both(2, 1, noFaults, ops(acquire, verify), swap)), about(property.NoFalseHold, property.MutualExclusion)},
	}, "The holder that verifies only after the slot is back never learns that it was gone, and that is safe: its B queue was there all along, so nobody else was granted the slot. Who verifies in between gives the slot up and says so."},
	{9, "Relinquishing by closing the channel: does it relinquish?", []row{
		{"close the channel", clients(2, 1, noFaults, session, "release=close-channel"), nil},
		{"close the connection", clients(2, 1, noFaults, session, "release=close-connection"), nil},
		{"delete B", clients(2, 1, noFaults, session), nil},
	}, "No. An exclusive queue belongs to the connection: after the channel is closed the slot is held as before, and nobody has it."},
	{10, "Two lock clients on one connection.", []row{
		{"one connection, a channel each", clients(2, 1, noFaults, ops(acquire), "connection=shared"), about(property.MutualExclusion, property.Linearizable)},
		{"a connection each", clients(2, 1, noFaults, ops(acquire)), about(property.MutualExclusion, property.Linearizable)},
	}, "Both are told that they hold the slot: a queue is exclusive to the connection, and both are it. One connection can be one client only."},
	{11, "A connection lost without anyone noticing: how long do two clients believe they hold one slot; what does a driver that reconnects by itself do to verify?", []row{
		{"the broker drops a connection", clients(2, 1, oneDrop, session), nil},
		{"the client dies, the broker is late", clients(2, 1, oneCrash, session), nil},
		{"the driver reconnects in verify", mutated("verify-reconnects", clients(2, 1, oneDrop, session)), about(property.StaleBeliefEnds, property.HonestVerify, property.MutualExclusion)},
	}, "Until the next verify, however long that is: no lock without fencing can do better. A driver that reconnects by itself makes it for ever, as the A queue is there on any connection: verify must run on the connection that acquired."},
	{12, "Probing by passive declare instead of publish: cost, and broken channels, when the queue is exclusive.", []row{
		{"passive declare", both(2, 1, noFaults, session, swap, "existence=passive"), nil},
		{"publish", both(2, 1, noFaults, session, swap), nil},
	}, "Every queue that is missing, or another's, breaks the channel: two commands to mend it, and no two probes in one round trip. Correct, and too dear."},
	{13, "Probing by publish: what happens to the probes' messages; x-max-length: 0, x-overflow: reject-publish, per-message TTL.", []row{
		{"no limit", clients(2, 1, noFaults, session, "max-length=none"), nil},
		{"x-max-length 0", clients(2, 1, noFaults, session), nil},
		{"x-max-length 0, reject-publish", clients(2, 1, noFaults, session, "overflow=reject-publish"), nil},
		{"x-message-ttl 0", clients(2, 1, noFaults, session, "max-length=none", "message-ttl=0"), nil},
		{"reject-publish, a nack taken for absence", mutated("nack-is-absence", clients(2, 1, noFaults, session)), about(property.Linearizable)},
	}, "They pile up in A and B queues, for ever in A. x-max-length 0 drops them at no cost; a TTL of 0 does the same; reject-publish turns every answer into a nack, which then must be read as \"it exists\", and does not go together with transactions at all."},
	{14, "Transient A queues and a broker restart; x-expires on A queues that are only published to.", []row{
		{"transient", both(1, 1, oneRestart, session, ops(do(lock.Count)), "durable=false"), nil},
		{"durable", both(1, 1, oneRestart, session, ops(do(lock.Count))), nil},
		{"x-expires of 10 ms", clients(1, 1, noFaults, ops(acquire, verify), "expires=10"), about(property.ContiguousSlots, property.HonestVerify, property.RemovalDrains)},
	}, "A restart takes transient slots away, and nobody told the holders. A probe by publish is not a use: a slot with x-expires goes away under clients that look at it all day."},
	{15, "A client scanning past a hole: capacity lost, count understated, slots above the hole still granted?", []row{
		{"an administrator dies half-way, clients acquire", both(2, 3, oneCrash, ops(acquire), ops(do(lock.Remove, 2)), "order=ascending"), about(property.ContiguousSlots, property.Progress, property.NoPhantomSlot)},
		{"count after a literal add 2", admins(1, 1, 0, ops(do(lock.Add, 2), do(lock.Count)), "add-reading=literal"), about(property.ContiguousSlots, property.ExactCount)},
	}, "A scan stops at the first slot that does not exist: slots above a hole are never granted, and count says so: it counts what can be acquired. The capacity is lost until somebody prunes or refills."},
	{16, "Transactions instead of confirms: when does the return arrive?", []row{
		{"transactions, RabbitMQ 3", both(2, 1, noFaults, session, swap, "confirm=transactions"), nil},
		{"transactions, RabbitMQ 4", both(2, 1, noFaults, session, swap, "confirm=transactions", "tx-routing=publish"), nil},
		{"confirms", both(2, 1, noFaults, session, swap), nil},
		{"transactions, RabbitMQ 3, removed and added over and over", both(1, 1, noFaults, ops(acquire), overAndOver, "confirm=transactions"), nil},
		{"transactions, RabbitMQ 4, removed and added over and over", both(1, 1, noFaults, ops(acquire), overAndOver, "confirm=transactions", "tx-routing=publish"), nil},
	}, "With the commit, before commit-ok: a probe is two commands. RabbitMQ 3 looks the queue up at the commit, and that is correct. RabbitMQ 4 does so when the message is published, and fails the commit with 406 if the queue is gone by then: the channel has to be opened again and the probe repeated, and whoever repeats it a few times only fails, though nothing went wrong, where a slot is removed and added as often. It costs a commit for every probe, and the probes of one round trip can't share one, as a return does not say which commit it belongs to."},
	{17, "A semaphore whose name looks like another's queue.", []row{
		{"jobs and jobs-1-A, names of the reference", named(clients(2, 1, noFaults, ops(acquire)), "jobs", "jobs-1-A"), about(property.NameSafety, property.MutualExclusion)},
		{"jobs and jobs1, names without separators", mutated("names-run-together", named(clients(2, 1, noFaults, ops(acquire)), "jobs", "jobs1")), about(property.NameSafety)},
		{"the administration mutex has the lock's name", mutated("admin-mutex-is-lock-name", named(clients(2, 1, noFaults, ops(acquire)), "jobs", "jobs-1-A")), about(property.NameSafety)},
	}, "With the role at the end of every name, the administration mutex's too, no name reads in two ways. With the administration mutex under the semaphore's bare name, a semaphore called jobs-1-A has the slot of jobs for its mutex."},
	{18, "Waiting on a holder of a slot that was not removed.", []row{
		{"remove, then wait", both(2, 1, noFaults, session, ops(removeOne, do(lock.Wait, 1))), nil},
		{"wait without removing", both(2, 1, noFaults, session, ops(do(lock.Wait, 1))), nil},
	}, "It returns when it finds the slot free at one moment, and the slot may be taken again before it has returned: the answer is true and useless. After a removal nobody can take it again, and the answer lasts."},
}
