package sql

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/sql"
)

// Client is a client's machine by itself: what it wants is sent to a real server, and not to the simulated store. It is the
// only one of its lock that it knows of, so its tokens, below [ClientTokens], are others' too.
type Client struct{ k cluster }

// ClientTokens is more than the tokens of a [Client].
const ClientTokens = 2 * generations

// NewClient is a client of a lock with so many slots, options by default.
func NewClient(t *lock.Target, d sql.Dialect, slots uint8) *Client {
	c := &Client{k: cluster{dialect: d}}
	c.k.Options = tables[d].Of(t.Settled(tables[d].Defaults()))
	c.k.scenario = &scenario.Scenario{Locks: []scenario.Lock{{Slots: slots}}, Clients: make([]scenario.Client, 1)}
	c.k.clients = make([]user, 1)
	return c
}

// Rows are the commands that make what its lock needs before anybody uses it.
func (c *Client) Rows() (all []sql.Command) {
	if c.k.Form == master {
		return append(all, sql.Command{Verb: sql.Insert, Table: sql.Masters, Lock: 1})
	}
	if c.k.Options.Rows != given {
		return nil
	}
	for num := range c.k.scenario.Locks[0].Slots {
		all = append(all, sql.Command{Verb: sql.Insert, Table: c.k.table(), Lock: 1, Num: num + 1})
	}
	return all
}

// Lease is how long its leases are, in milliseconds of the model.
func (c *Client) Lease() int { return c.k.Lease }

// Level is the isolation level of its transactions.
func (c *Client) Level() sql.Level { return c.k.level() }

// Start begins an operation.
func (c *Client) Start(op lock.Op) { c.k.Start(1, op, 0) }

// Pass has the client's clock go on by so many milliseconds of the model.
func (c *Client) Pass(ms int64) { c.k.machine(1).pass(ms, c.k.belief()) }

// Next is the command that it sends now.
func (c *Client) Next() sql.Command {
	m := c.k.machine(1)
	if c.k.grants(m) {
		m.fresh = 0
	}
	return c.k.want(m, 1)
}

// Apply hands it the reply.
func (c *Client) Apply(r sql.Reply) { c.k.take(c.k.machine(1), 1, r) }

// Result is what the operation came to, and whether it is over.
func (c *Client) Result() (lock.Result, bool) {
	m := c.k.machine(1)
	return m.result, m.phase == idle && m.result.Outcome != lock.Pending
}
