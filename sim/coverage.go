package sim

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/monitor"
)

// Coverage is what executions have covered: pairs of consecutive commands of different clients, each with its kind of
// reply, and states of the broker, reduced to what matters to a lock. The zero value is ready to use.
type Coverage struct {
	// Points are the covered points, each once, in the order of their first occurrence.
	Points []Point

	last   uint16 // the class of the command before, 0 for none
	client uint8  // whose it was
	// Classes are numbered as they come, so that the set of pairs of them is small.
	numbers [classes]uint8
	known   uint8
	pairs   [1 << 10]uint64
	states  [stateCount / 64]uint64
}

// Point is a pair of commands, or a state of the broker. It is the same number on every machine.
type Point uint32

const (
	classBits  = 12 // of a method, a role and a kind of reply
	classes    = 1 << classBits
	stateBits  = 13
	stateCount = 1 << stateBits
	stateMark  = 1 << 31
)

// IsState reports whether it is a state of the broker, and not a pair of commands.
func (p Point) IsState() bool { return p&stateMark != 0 }

// begin begins an execution.
func (c *Coverage) begin() { c.client = 0 }

// command notes that a client's command was answered.
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

// number is the number of a class, given at its first use. There are far fewer in use than there are numbers; should
// they run out, the last is shared.
func (c *Coverage) number(class uint16) uint8 {
	if c.numbers[class] == 0 {
		c.known = min(c.known, 254) + 1
		c.numbers[class] = c.known
	}
	return c.numbers[class]
}

// state notes what the broker has of a lock.
func (c *Coverage) state(t *monitor.Truth) {
	s := stateOf(t)
	if word, bit := &c.states[s>>6], uint64(1)<<(s&63); *word&bit == 0 {
		*word |= bit
		c.Points = append(c.Points, stateMark|Point(s))
	}
}

// stateOf is the state of a lock without its clients. It has the number of slots and whether they have a hole, the number
// of taken slots, up to three of those on dead connections, and the holder of the administration mutex.
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

// classOf is a method, what its resource is for, and the kind of its answer, in one number that is not 0.
func classOf(x *backend.Exchange) uint16 {
	role := uint16(7)
	if x.Known {
		role = uint16(x.Role)
	}
	return uint16(x.Method)<<6 | role<<3 | uint16(x.Answer)
}
