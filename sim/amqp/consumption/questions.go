package consumption

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

var (
	noFaults = sim.FaultBounds{Late: true}
	oneDrop  = sim.FaultBounds{Drops: 1, Late: true}

	acquire = question.Do(lock.Acquire)
	verify  = question.Do(lock.Verify)
	release = question.Do(lock.Release)
	session = ops(acquire, verify, release)
	remove  = ops(question.Do(lock.Remove, 1))
	anew    = ops(question.Do(lock.Destroy), question.Do(lock.Create, 1))
	count   = ops(question.Do(lock.Count))
)

func ops(o ...scenario.Operation) []scenario.Operation { return o }

// drawbacks are the five drawbacks of receive-based semaphores that the guidelines name. Each is compared with the
// guidelines' own persistent semaphore.
var drawbacks = []question.Question{
	{Ask: "Are receive-based semaphores hard to administer?", Rows: []question.Row{
		question.Visit("tokens, remove a slot", question.Both(1, 1, noFaults, ops(acquire, verify), remove).Of("token-semaphore"), property.RemovalDrains, property.ContiguousSlots, property.HonestVerify),
		question.Visit("the queue deleted and made anew", question.Both(2, 1, noFaults, ops(acquire, verify), anew).Of("delete-under-holder"), property.MutualExclusion, property.RemovalDrains),
		question.Visit("persistent semaphore, remove a slot", question.Both(1, 1, noFaults, ops(acquire, verify), remove).Of("semaphore"), property.RemovalDrains, property.ContiguousSlots, property.HonestVerify),
	}, Answer: "They are. A token that is held cannot be removed: whoever removes slots is told busy until its holder gives it back. Deleting the queue and making it anew changes the number at once, and two hold one slot, told nothing. In a persistent semaphore one queue.delete removes a held slot, and its holder learns that at its next verify."},
	{Ask: "Are they greedy?", Rows: []question.Row{
		question.Visit("a consumer without a prefetch count", question.Clients(2, 2, noFaults, ops(acquire)).Of("greedy-consumer"), property.NoLeak, property.Linearizable),
		question.Visit("a consumer with a prefetch count of 1", question.Clients(2, 2, noFaults, ops(acquire)).Of("waiting-token-semaphore"), property.NoLeak, property.Linearizable),
		question.Visit("basic.get", question.Clients(2, 2, noFaults, ops(acquire)).Of("token-semaphore"), property.NoLeak, property.Linearizable),
		question.Visit("persistent semaphore", question.Clients(2, 2, noFaults, ops(acquire)).Of("semaphore"), property.NoLeak, property.Linearizable),
	}, Answer: "Only without a prefetch count: one consumer is then sent every token there is. Neither basic.get nor a prefetch count of 1 takes more than one."},
	{Ask: "Are they hard to verify?", Rows: []question.Row{
		question.Visit("a passive declare on any channel", question.Both(2, 1, noFaults, ops(acquire, verify), anew).Of("verify-by-name"), property.HonestVerify, property.StaleBeliefEnds),
		question.Visit("nobody is asked", question.Clients(1, 1, oneDrop, session).Of("token-verify-believes"), property.HonestVerify, property.StaleBeliefEnds),
		question.Visit("a passive declare on the channel that has the token", question.Clients(2, 1, oneDrop, session).Of("token-semaphore"), property.HonestVerify, property.StaleBeliefEnds),
		question.Visit("persistent semaphore", question.Clients(2, 1, oneDrop, session).Of("semaphore"), property.HonestVerify, property.StaleBeliefEnds),
	}, Answer: "They are: there is nothing harmless to ask about a token. An answer on the channel that has it says that the token is its own for as long as nobody deletes the queue; of one made anew under that name the answer is the same. The persistent semaphore asks for the slot itself: one command, too."},
	{Ask: "Are they hard to measure?", Rows: []question.Row{
		question.Visit("what queue.declare counts", question.Both(1, 2, noFaults, ops(acquire), count).Of("count-of-ready"), property.ExactCount),
		question.Visit("an account beside the tokens", question.Both(1, 2, noFaults, ops(acquire), count).Of("token-semaphore"), property.ExactCount),
		question.Visit("persistent semaphore", question.Both(1, 2, noFaults, ops(acquire), count).Of("semaphore"), property.ExactCount),
	}, Answer: "They are: queue.declare counts the tokens that are ready, not those that are held. An account beside the tokens counts right, in two to five commands under the administration mutex. The persistent semaphore counts its slots by a probe for each and one more, held or not."},
	{Ask: "Are they expensive to try?", Rows: []question.Row{
		question.Visit("basic.get", question.Clients(2, 1, noFaults, ops(acquire)).Of("token-semaphore"), property.CheapAcquire),
		question.Visit("a consumer that waits and is cancelled", question.Clients(2, 1, noFaults, ops(acquire)).Of("waiting-token-semaphore"), property.CheapAcquire),
		question.Visit("exclusive consumption", question.Clients(2, 1, noFaults, ops(acquire)).Of("consumer-mutex"), property.CheapAcquire),
		question.Visit("persistent semaphore", question.Clients(2, 1, noFaults, ops(acquire)).Of("semaphore"), property.CheapAcquire),
	}, Answer: "Not by basic.get, so this claim is refuted: a declare and an empty get are two commands, and no channel breaks. A consumer that waits is no dearer in commands, but is made and cancelled for each try. Exclusive consumption breaks the channel of whoever loses a race, as a claim does in a persistent semaphore, whose probes for a slot that is taken take one round trip."},
}

func init() {
	question.Register("amqp-consumption", &question.Set{Title: "the five drawbacks of receive-based semaphores", Measured: 5, Questions: drawbacks})
}
