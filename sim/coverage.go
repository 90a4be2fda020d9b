package sim

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/monitor"
)

// Coverage collects what executions have covered: pairs of consecutive commands of different clients, each with its
// kind of reply, and states of the broker reduced to what matters to a lock. The zero value is ready to use.
type Coverage struct {
	// Points are the covered points without duplicates, in the order of their first occurrence.
	Points []Point

	last   uint16 // class of the previous command, 0 for none
	client uint8  // client that sent the previous command
	// numbers gives each class a small number at its first use, so that the set of pairs stays small.
	numbers [classes]uint8
	known   uint8
	pairs   [1 << 10]uint64
	states  [stateCount / 64]uint64
}

// Point is a pair of commands, or a state of the broker. A point has the same number on every machine.
type Point uint32

const (
	classBits  = 12 // of a method, a role and a kind of reply
	classes    = 1 << classBits
	stateBits  = 13
	stateCount = 1 << stateBits
	stateMark  = 1 << 31
)

// IsState reports whether the point is a state of the broker rather than a pair of commands.
func (p Point) IsState() bool { return p&stateMark != 0 }

// begin begins an execution.
func (c *Coverage) begin() { c.client = 0 }

// command notes a client's command that was answered.
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

// number is the number of a class, given at its first use. Far fewer classes occur than there are numbers; if the
// numbers run out, the remaining classes share the last.
func (c *Coverage) number(class uint16) uint8 {
	if c.numbers[class] == 0 {
		c.known = min(c.known, 254) + 1
		c.numbers[class] = c.known
	}
	return c.numbers[class]
}

// state notes the broker's state of a lock.
func (c *Coverage) state(t *monitor.Truth) {
	s := stateOf(t)
	if word, bit := &c.states[s>>6], uint64(1)<<(s&63); *word&bit == 0 {
		*word |= bit
		c.Points = append(c.Points, stateMark|Point(s))
	}
}

// stateOf summarises the state of a lock without its clients: the number of slots, whether there is a hole, the
// number of taken slots, the number on dead connections (at most three), and whether the administration mutex is
// free, held by a live connection or by a half-open one.
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

// classOf encodes an exchange's method, the role of its resource and the kind of its reply in one nonzero number.
func classOf(x *backend.Exchange) uint16 {
	role := uint16(7)
	if x.Known {
		role = uint16(x.Role)
	}
	return uint16(x.Method)<<6 | role<<3 | uint16(x.Answer)
}
