package sql

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/model/sql/leases"
	"github.com/lockproof/lockproof/sim"
)

func init() {
	for d, title := range [...]string{sql.MariaDB: "MariaDB", sql.Postgres: "PostgreSQL"} {
		dialect := sql.Dialect(d)
		sim.Register(&sim.Backend{
			Backend: &lock.Backend{
				Name: dialect.String(), Title: title, Words: lock.Words{Restarted: "connections and open transactions are gone", Hold: "a lease"}, Defaults: leases.Tables[d].Defaults(), References: leases.References(dialect), Mutants: leases.Mutants(dialect), Skips: skips,
			},
			New: func() sim.Cluster { return &cluster{dialect: dialect} }, Links: true, Leases: true,
			Options: func(draws sim.Draws, fix func(lock.Options) lock.Options) lock.Options {
				return fix(draw(dialect, draws))
			},
		})
		ask(dialect, title)
	}
}

// skips has the properties that are not judged for these locks, and the reason for each.
var skips = map[string]string{
	"cheap-acquire":     "what an acquire costs depends on how often its transaction is tried again",
	"cheap-verify":      "there is no verify: a holder refreshes",
	"minimal-driver":    "every driver has what is used of SQL",
	"stale-belief-ends": "a lease goes on when its client's connection is lost",
	"survives-restart":  "a lease goes on through a restart",
	"no-leak":           "a lease that nobody knows of ends by itself",
	"crash-frees":       "nothing notices a crash: the lease ends by itself",
}

// draw draws options for a scenario. The reference locks must be right with any of them.
func draw(d sql.Dialect, draws sim.Draws) lock.Options {
	o := leases.Tables[d].Of(leases.Tables[d].Defaults())
	o.Lease = []int{30, 40, 60, 100}[draws.Bits(2)]
	o.Retries = draws.Bits(2)
	if draws.Bits(1) == 1 {
		o.Counted = leases.Twice
	}
	return leases.Tables[d].Options(o)
}
