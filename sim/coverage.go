package sim

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/monitor"
)

// Coverage collects what executions have covered, as points. A point is a pair of consecutive commands of different
// clients, each with its kind of reply, or a state of the broker reduced to what matters to a lock. The zero value is
// ready to use.
type Coverage struct {
	// Points has the covered points without duplicates, in the order of their first occurrence.
	Points []Point

	last   uint16 // class of the previous command; 0 if there was none
	client uint8  // client that sent the previous command
	// numbers maps each class of commands to a small number, assigned at its first use. The set of pairs thus stays
	// small.
	numbers [classes]uint8
	known   uint8
	pairs   [1 << 10]uint64
	states  [stateCount / 64]uint64
}

// Point is a pair of commands, or a state of the broker. It has the same number on every machine.
type Point uint32

const (
	classBits  = 12 // of a class, which is a method, a role and a kind of reply
	classes    = 1 << classBits
	stateBits  = 13
	stateCount = 1 << stateBits
	stateMark  = 1 << 31
)

// IsState reports whether the point is a state of the broker; otherwise it is a pair of commands.
func (p Point) IsState() bool { return p&stateMark != 0 }

// begin starts a new execution, in which no command precedes the first one.
func (c *Coverage) begin() { c.client = 0 }

// command records a client's command and the class of its reply.
func (c *Coverage) command(client uint8, class uint16) {
	if c.client != 0 && c.client != client {
		pair := uint16(c.number(c.last))<<8 | uint16(c.number(class))
		if word, bit := &c.pairs[pair>>6], uint64(1)<<(pair&63); *word&bit == 0 {
			*word |= bit
			c.Points = append(c.Points, Point(c.last)<<classBits|Point(class))
		}
	}
	c.last, c.client = class, client
}

// number returns the number of a class of commands, and assigns one at its first use. Far fewer classes occur than
// there are numbers; if the numbers run out, all further classes share the last one.
func (c *Coverage) number(class uint16) uint8 {
	if c.numbers[class] == 0 {
		c.known = min(c.known, 254) + 1
		c.numbers[class] = c.known
	}
	return c.numbers[class]
}

// state records the broker's state of a lock.
func (c *Coverage) state(t *monitor.Truth) {
	s := stateOf(t)
	if word, bit := &c.states[s>>6], uint64(1)<<(s&63); *word&bit == 0 {
		*word |= bit
		c.Points = append(c.Points, stateMark|Point(s))
	}
}

// stateOf summarises the state of a lock in one number, without the clients' identities. It has the number of slots,
// whether there is a hole among them, the number of taken slots, and the number of those on dead connections (at most
// three). It also says whether the administration mutex is free, held by a live connection, or held by a half-open one.
func stateOf(t *monitor.Truth) uint16 {
	dead := 0
	for _, owner := range t.Owner {
		if owner&monitor.HalfOpen != 0 {
			dead++
		}
	}
	admin := uint16(0)
	if t.Admin != 0 {
		admin = 1 + uint16(t.Admin>>7)
	}
	holes := uint16(0)
	if !t.Contiguous() {
		holes = 1
	}
	return uint16(bits.OnesCount16(t.Exists))<<9 | uint16(bits.OnesCount16(t.Taken))<<5 | uint16(min(dead, 3))<<3 | admin<<1 | holes
}

// classOf encodes the class of an exchange in one nonzero number: its method, the role of its resource, and the kind of
// its reply.
func classOf(x *backend.Exchange) uint16 {
	role := uint16(7)
	if x.Known {
		role = uint16(x.Role)
	}
	return uint16(x.Method)<<6 | role<<3 | uint16(x.Answer)
}
