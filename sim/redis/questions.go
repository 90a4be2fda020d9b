package redis

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

// These questions are about the edge cases in the text that describes the lock ("Edge cases"), and about what the text
// leaves open. Clients have priorities 1 and 2 in turn. Linearizability is not judged for locks with priorities.
func init() {
	judged := []property.Property{property.MutualExclusion, property.VictimAcknowledged, property.LeaseRespected, property.HonestVerify, property.Progress, property.NoLeak}
	acquire := []scenario.Operation{question.Do(lock.Acquire)}
	session := []scenario.Operation{question.Do(lock.Acquire), question.Do(lock.Verify), question.Do(lock.Release)}
	crash, lost, restart, nothing := sim.FaultBounds{Crashes: 1, Late: true}, sim.FaultBounds{Lost: 1}, sim.FaultBounds{Restarts: 1}, sim.FaultBounds{}
	row := func(setting, target string, clients int, calls []scenario.Operation, faults sim.FaultBounds, options ...string) question.Row {
		return question.Visit(setting, question.Clients(clients, 1, faults, calls, options...).Of(target), judged...)
	}
	question.Register(redis.Name, &question.Set{
		Title: "open questions about locks on Redis",
		Questions: []question.Question{
			{Ask: "A thief crashes before it has asked its victim to stop: is that \"still consistent\"?", Rows: []question.Row{
				row("all leases are the same", "priority-lock-left", 3, acquire, crash),
				row("the thief's lease is shorter, and so is the entry's", "short-lease", 3, acquire, crash),
				row("the thief's lease is shorter, the entry lives as long as the one it replaced", "priority-lock-left", 3, acquire, crash, "lease-above=8"),
				row("the thief's lease is shorter, the entry keeps the victim's claim", "priority-lock", 3, acquire, crash, "lease-above=8"),
			}, Answer: "Only if the entry outlives the victim's lease. As the text reads it lives as long as the thief asked for: it ends while the victim works, and whoever comes next holds the lock as well. Let the entry live as long as the longer of the two, or keep both claims in it."},
			{Ask: "A thief cannot reach its victim and gives up: is that \"as though the lock was never acquired\"?", Rows: []question.Row{
				row("it deletes its entry, which was the victim's", "priority-text", 3, acquire, lost),
				row("it leaves its entry until that expires", "priority-lock-left", 3, acquire, lost),
				row("it takes its own claim out of the entry", "priority-lock", 3, acquire, lost),
			}, Answer: "No: the victim's entry is overwritten, and deleting it frees a lock that is held. Leaving it is safe, and nobody can have the lock until it expires; an entry that keeps the claims of whom it was taken from costs nothing of that."},
			{Ask: "For how much of its lease must a thief wait for acknowledgements (f)?", Rows: []question.Row{
				row("all of it, and it gives up then", "priority-lock", 2, session, nothing),
				row("a quarter, and it gives up then", "priority-lock", 2, session, nothing, "wait=25"),
				row("a quarter, and silence is consent", "impatient-thief", 2, session, nothing),
			}, Answer: "For as long as it likes, if it gives up then. Silence is consent only after the victim's whole lease: with f < 1 that is two holders by design."},
			{Ask: "A thief that waits is robbed itself: may it acknowledge at once?", Rows: []question.Row{
				row("one entry, after its own victim has", "priority-lock-left", 3, acquire, nothing),
				row("one entry, at once", "chain-at-once", 3, acquire, nothing),
				row("an entry that keeps all claims, at once", "priority-lock", 3, acquire, nothing),
				row("one entry, and \"not mine\" when it has given up", "not-mine", 3, acquire, lost),
			}, Answer: "Not where an entry names one client: who robs a thief asks nobody else, and the first victim may still work; nor may it say that the lock is not its own once it has given up. Where the entry keeps all claims, the next thief sees and asks everybody, and a chain of thieves does not wait link by link."},
			{Ask: "From when on is a lease counted, and does waiting count?", Rows: []question.Row{
				row("from before the first command; waiting counts", "priority-lock", 2, session, nothing, "verify=clock"),
				row("from before the first command; waiting does not count", "waiting-is-free", 2, session, nothing),
				row("from the last reply, three servers", "validity-from-reply", 2, session, nothing),
			}, Answer: "From before the first command is sent, and all that follows is part of it: the servers count from when they got it, and a client that counts from later says that it holds what has expired."},
			{Ask: "Does a server have to remember its entries when it restarts?", Rows: []question.Row{
				row("it has them on disk", "priority-lock", 2, acquire, restart),
				row("it forgets them", "forgetful-server", 2, []scenario.Operation{question.Do(lock.Acquire), question.Do(lock.Acquire)}, restart),
			}, Answer: "Yes: what is forgotten is granted again at once. Redis keeps its keys with appendonly yes and appendfsync always; or let it stay down for as long as the longest lease."},
			{Ask: "How long is a chain of thieves, if a hundred clients of a hundred priorities come in any order?", Rows: []question.Row{chains()},
				Answer: "Not 0.0102, as the text has it, but 5.187 on the average: whoever comes k-th has the highest priority so far with probability 1/k, so that the mean is the harmonic number. The text weighs one sequence of clients of each length, of which there are many. Lease and waiting have to be long enough for ten, which leaves out 0.6 % of rounds."},
		},
	})
}
