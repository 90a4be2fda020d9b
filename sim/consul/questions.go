package consul

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

func init() {
	session := []scenario.Operation{question.Do(lock.Acquire), question.Do(lock.Verify), question.Do(lock.Release)}
	ends := sim.FaultBounds{Drops: 1, Late: true}
	question.Register(backendName, &question.Set{
		Title: "open questions about locks on Consul",
		Questions: []question.Question{
			{Ask: "Does whoever wins the check-and-set hold the lock?", Rows: []question.Row{
				question.Visit("read again before believing it", question.Clients(2, 1, ends, session)),
				question.Visit("the check-and-set is enough", question.Clients(2, 1, ends, session).Of("consul-unconfirmed")),
			}, Answer: "Not if its session may have ended by then: the next contender prunes the dead session and holds the lock as well. Reading once more, session and contender's key together, closes that; a session that ends later is what a verify is for."},
		},
	})
}
