package search

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Coverage says what the visited executions have exercised: properties, results of operations, replies, and kinds of
// actions.
type Coverage struct {
	Exercised property.Set
	Results   map[Ending]bool
	Replies   map[Answer]bool
	Actions   [32]bool // indexed by scenario.ActionKind
	// Ends has the sets of slots that exist on the first lock in final states. In a set, bit s stands for slot s.
	Ends map[uint16]bool
}

// Ending is a kind of operation and a result with which it ended.
type Ending struct {
	Op     lock.Op
	Result lock.Outcome
	Held   bool
	Reason lock.Reason
}

// Answer is a command of an operation, and the server's reply to it.
type Answer struct {
	Op             lock.Op
	Method, Answer uint8
	Result         backend.Result
}

func (c *Coverage) Note(a scenario.Action, out *sim.Outcome) {
	if c.Results == nil {
		c.Results, c.Replies = make(map[Ending]bool), make(map[Answer]bool)
	}
	c.Exercised |= out.Exercised
	c.Actions[a.Kind] = true
	if out.Completed {
		r := out.Result
		c.Results[Ending{out.Op, r.Outcome, r.Held, r.Reason}] = true
	}
	if x := &out.Exchange; x.Method != 0 {
		c.Replies[Answer{out.Op, x.Method, x.Answer, x.Result}] = true
	}
}

func (c *Coverage) end(slots uint16) {
	if c.Ends == nil {
		c.Ends = make(map[uint16]bool)
	}
	c.Ends[slots] = true
}

// Merge adds to c everything that o has exercised.
func (c *Coverage) Merge(o *Coverage) {
	if c.Results == nil {
		c.Results, c.Replies = make(map[Ending]bool), make(map[Answer]bool)
	}
	c.Exercised |= o.Exercised
	for k := range o.Results {
		c.Results[k] = true
	}
	for k := range o.Replies {
		c.Replies[k] = true
	}
	for slots := range o.Ends {
		c.end(slots)
	}
	for i, seen := range o.Actions {
		c.Actions[i] = c.Actions[i] || seen
	}
}
