package sql

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/model/sql/leases"
)

// Client is the state machine of one client, for use with a real server instead of the simulated one. It does not know
// the lock's other clients. Its tokens are less than [ClientTokens]; other clients may use the same ones.
type Client struct {
	leases.Protocol
	machine leases.Machine
	at      leases.Place
}

// ClientTokens is an exclusive upper bound of the tokens that a [Client] uses.
const ClientTokens = 2 * leases.Generations

// NewClient returns a client of a lock of target t in dialect d, with the given number of slots and default options.
func NewClient(t *lock.Target, d sql.Dialect, slots uint8) *Client {
	table := leases.Tables[d]
	return &Client{Protocol: leases.Protocol{Options: table.Of(t.Settled(table.Defaults()))}, at: leases.Place{Client: 1, Slots: slots}}
}

// Rows returns the commands that create the rows that the lock needs before its first use.
func (c *Client) Rows() (all []sql.Command) {
	if c.Form == leases.Master {
		return append(all, sql.Command{Verb: sql.Insert, Table: sql.Masters, Lock: 1})
	}
	if c.Options.Rows != leases.Given {
		return nil
	}
	for num := range c.at.Slots {
		all = append(all, sql.Command{Verb: sql.Insert, Table: c.Table(), Lock: 1, Num: num + 1})
	}
	return all
}

// Lease returns the length of the client's leases, in milliseconds of simulated time.
func (c *Client) Lease() int { return c.Options.Lease }

// Start invokes an operation.
func (c *Client) Start(op lock.Op) {
	c.Protocol.Start(&c.machine, c.at, op, 0, func(uint8) bool { return false })
}

// Pass lets the client's clock advance by ms milliseconds of simulated time.
func (c *Client) Pass(ms int64) { c.machine.Pass(ms, c.Belief()) }

// Next returns the command that the client sends now.
func (c *Client) Next() sql.Command { return c.Protocol.Next(&c.machine, c.at) }

// Apply gives the client the reply to its command.
func (c *Client) Apply(r sql.Reply) { c.Take(&c.machine, c.at, r) }

// Result returns the result of the client's operation, and whether the operation has ended.
func (c *Client) Result() (lock.Result, bool) { return c.machine.Result, c.machine.Over() }
