package recognise

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// Probe is what clients showed that used locks.
type Probe struct {
	Heard     int
	exclusive map[string]bool // the queues declared, and whether exclusively
	asked     map[string]bool // the queues of which somebody asked whether they are there
	bound     map[string]bool // the queues that were bound to an exchange
	named     map[string]bool // the queues of which that was asked by their own names, not by what they are bound with
	last      string          // the queue that was declared last
	methods   []string        // those beside what a minimal driver has, as they were first met
	takes     string          // the method by which a user of a lock took a message from a queue that is not exclusive
	publishes bool            // as the guidelines ask whether a queue is there
	// Expires is after how many milliseconds a queue or a message that was seen would go by itself, the shortest; 0 is none.
	Expires uint32
	Made    []Creation
	Uses    []*Use
	// Using says that what is heard now is of somebody who acquires, verifies or releases, and not of an administrator.
	Using bool
}

// Creation is a lock that was made.
type Creation struct {
	Lock          string
	Slots         int
	Before, After Snapshot
}

// Use is one use of a lock.
type Use struct {
	Lock                  string
	Slot                  int
	Granted               bool
	Before, During, After Snapshot
}

// NewProbe has seen nothing yet.
func NewProbe() *Probe {
	return &Probe{
		exclusive: make(map[string]bool), asked: make(map[string]bool),
		bound: make(map[string]bool), named: make(map[string]bool),
	}
}

// Hear notes a command.
func (p *Probe) Hear(c *wire.Command) {
	p.Heard++
	cmd := c.Model(func(string) amqp.Queue { return 0 })
	p.expires(cmd.Args.Expires)
	p.expires(cmd.Args.MessageTTL)
	if id := c.Method.ID().String(); !cmd.Method.Minimal() && !slices.Contains(p.methods, id) {
		p.methods = append(p.methods, id)
	}
	switch m := c.Method.(type) {
	case *frame.BasicPublish:
		if c.Content != nil {
			own, _ := strconv.ParseUint(c.Content.Properties.Expiration, 10, 32) // what is no number, the broker refuses
			p.expires(uint32(own))
		}
		if m.Mandatory {
			p.publishes = true
			p.asked[m.RoutingKey] = true
			p.named[m.RoutingKey] = p.named[m.RoutingKey] || m.Exchange == ""
		}
	case *frame.QueueDeclare:
		if m.Passive {
			p.asked[m.Queue], p.named[m.Queue] = true, true
		} else {
			p.exclusive[m.Queue] = p.exclusive[m.Queue] || m.Exclusive
			p.last = m.Queue
		}
	case *frame.QueueBind:
		p.bound[m.Queue] = true
	case *frame.BasicGet:
		p.take(m.Queue, "basic.get")
	case *frame.BasicConsume:
		p.take(m.Queue, "basic.consume")
	}
}

// expires notes a time after which something goes by itself; 0 is none, or at once.
func (p *Probe) expires(ms uint32) {
	if ms > 0 && (p.Expires == 0 || ms < p.Expires) {
		p.Expires = ms
	}
}

// Common are the queues that were declared and whose names have nothing to do with any of some locks': whoever uses a lock has
// them in common, as far as that can be told from names. Those that the broker named are not among them.
func (p *Probe) Common(locks []string) (names []string) {
	for name := range p.exclusive {
		if !strings.HasPrefix(name, "amq.") && !slices.ContainsFunc(locks, func(l string) bool { return mentions(name, l) }) {
			names = append(names, name)
		}
	}
	return names
}

// take notes that messages are taken from a queue; "" is the one declared last.
func (p *Probe) take(queue, how string) {
	if queue == "" {
		queue = p.last
	}
	if p.Using && p.takes == "" && !p.exclusive[queue] && !strings.HasPrefix(queue, "amq.") {
		p.takes = how
	}
}

// Snapshot is what the broker has of queues at one moment.
type Snapshot map[string]queueState

// size is how many messages there are.
func (q queueState) size() int { return len(q.ready) + len(q.taken) }

// Size is how many queues there are, and messages in them.
func (s Snapshot) Size() (n int) {
	for _, q := range s {
		n += 1 + q.size()
	}
	return n
}

// Without are the queues that another snapshot does not have, in order.
func (s Snapshot) Without(o Snapshot) (names []string) {
	for name := range s {
		if _, ok := o[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Messages is how many messages a queue has, those included that channels have.
func (s Snapshot) Messages(queue string) int { return len(s[queue].ready) + len(s[queue].taken) }

// queueState is what it has of one.
type queueState struct {
	owned        bool                // by a connection
	ready, taken []map[numbering]int // the numbers that messages have, see numbersOf; taken are those that channels have
	consumers    int
	sole         bool // one of them is exclusive
	shared       bool // others may join one of them, and are sent messages as it is
	single       bool // but one of them is active
}

// Add looks at what the broker has of a queue.
func (s Snapshot) Add(v wire.State, name string) {
	q := queueState{owned: v.Owner(name) != nil}
	for m := range v.Messages(name) {
		if numbers := numbersOf(m.Content); m.Conn == nil {
			q.ready = append(q.ready, numbers)
		} else {
			q.taken = append(q.taken, numbers)
		}
	}
	for c := range v.Consumers(name) {
		if !c.Waits {
			q.consumers++
		}
		q.sole = q.sole || c.Exclusive
		q.shared, q.single = q.shared || !c.Exclusive && !c.Single, q.single || c.Single
	}
	s[name] = q
}
