package sql

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/question"
)

// ask registers the open questions about locks in rows of a database.
func ask(d sql.Dialect, title string) {
	use := []scenario.Operation{question.Do(lock.Acquire), question.Do(lock.Refresh), question.Do(lock.Release)}
	question.Register(d.String(), &question.Set{
		Title: "open questions about locks on " + title,
		Questions: []question.Question{
			{Ask: "May a free slot be looked for with SKIP LOCKED?", Rows: []question.Row{
				question.Visit("FOR UPDATE", question.Clients(2, 1, sim.FaultBounds{Late: true}, use).Of(d.String()+"-slots")),
				question.Visit("FOR UPDATE SKIP LOCKED", question.Clients(2, 1, sim.FaultBounds{Late: true}, use).Of(d.String()+"-skip-locked")),
			}, Answer: "It grants nothing wrong, and refuses wrongly: a row that somebody merely looks at, for a release or a refresh, counts as taken, and a client is told that all is held when it is not. Waiting for the row costs that wait and tells the truth."},
		},
	})
}
