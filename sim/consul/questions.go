package consul

import (
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

func init() {
	session := []scenario.Operation{question.Do(lock.Acquire), question.Do(lock.Verify), question.Do(lock.Release)}
	crash := sim.FaultBounds{Crashes: 1, Late: true}
	ends := sim.FaultBounds{Drops: 1, Late: true}
	question.Register(consul.Name, &question.Set{
		Title: "open questions about locks on Consul",
		Questions: []question.Question{
			{Ask: "Does whoever wins the check-and-set hold the lock?", Rows: []question.Row{
				question.Visit("read again before believing it", question.Clients(2, 1, ends, session)),
				question.Visit("the check-and-set is enough", question.Clients(2, 1, ends, session).Of("consul-unconfirmed")),
			}, Answer: "Not if its session may have ended by then: the next contender prunes the dead session and holds the lock as well. Reading once more, session and contender's key together, closes that; a session that ends later is what a verify is for."},
			{Ask: "What becomes of a contender's key when its session ends?", Rows: []question.Row{
				question.Visit("it is deleted", question.Clients(2, 1, crash, session)),
				question.Visit("it is released, as Consul does unless told otherwise", question.Clients(2, 1, crash, session).Of("consul-released-keys")),
			}, Answer: "Have it deleted (Behavior \"delete\"). A key that is released stays for ever, and every contender reads all keys there ever were."},
			{Ask: "What does a holder have to look at to verify?", Rows: []question.Row{
				question.Visit("its contender's key, and the holders", question.Clients(2, 1, ends, session)),
				question.Visit("the holders", question.Clients(2, 1, ends, session).Of("consul-holders-only")),
			}, Answer: "At both: the holders name a session until the next contender prunes it, alive or not."},
			{Ask: "Do contenders and the lock have to be read at once?", Rows: []question.Row{
				question.Visit("one read of the prefix", question.Clients(2, 1, sim.FaultBounds{}, session)),
				question.Visit("two reads, the contenders first", question.Clients(2, 1, sim.FaultBounds{}, session).Of("consul-two-reads")),
			}, Answer: "Yes. Whoever came in between is a holder without a contender's key, and is pruned alive."},
		},
	})
}
