package naive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// queueModel is a configuration of the persistent semaphore. Its target is the reference lock or a variant with one
// bug.
type queueModel struct {
	target          string
	unseen, stay    bool
	unverified      bool
	retries         int8
	crashes         int8
	late            bool
	clients, slots  int
	calls           []string
	administrations []string
}

// The program counter of a client: the commands of an acquire, then the command of a release.
const (
	queueSlot int8 = iota
	queueHolder
	queueClaim
	queueVerify
	queueWithdraw
	queueFull
	queueRelease
)

var queueNames = [...]string{"probes the slot", "probes the holder", "declares the holder", "verifies", "gives the slot up", "is refused", "releases"}

type queueClient struct {
	op, at, slot, tries int8
	holds, dead, gone   bool
	existed             uint8 // the slots that existed at some moment of the client's current call, as bits
}

type queueState struct {
	slots   uint8   // the existing A queues (slots), as bits
	holders [5]int8 // for each slot, from 1, the client whose B queue (holder) exists; 0 if none
	clients [3]queueClient
	admin   struct{ op, at, slot int8 }
	crashes int8
}

// step executes a client's next command.
func (m *queueModel) step(s *queueState, c int) string {
	cl := &s.clients[c]
	if cl.slot == 0 {
		cl.slot = 1
	}
	step := fmt.Sprintf("c%d %s %d", c+1, queueNames[cl.at], cl.slot)
	exists := s.slots&(1<<cl.slot) != 0
	switch holder := &s.holders[cl.slot]; cl.at {
	case queueSlot:
		switch {
		case !exists:
			m.done(cl, false)
		case m.unseen:
			cl.at = queueClaim
		default:
			cl.at = queueHolder
		}
	case queueHolder:
		switch {
		case *holder != 0:
			cl.at, cl.slot = queueSlot, cl.slot+1
		case m.target == "probe-is-claim":
			m.claimed(cl)
		default:
			cl.at = queueClaim
		}
	case queueClaim:
		switch {
		case *holder == 0 || *holder == int8(c+1) || m.target == "holder-shared":
			*holder = int8(c + 1)
			m.claimed(cl)
		case m.target == "locked-is-success":
			m.claimed(cl)
		case m.unseen:
			cl.at, cl.slot = queueSlot, cl.slot+1
		case cl.tries >= m.retries:
			m.done(cl, false)
		default:
			cl.tries++
			if cl.at = queueSlot; !m.stay {
				cl.slot = 1
			}
		}
	case queueVerify:
		if exists {
			m.done(cl, true)
		} else {
			cl.at = queueWithdraw
		}
	case queueWithdraw:
		if *holder == int8(c+1) {
			*holder = 0
		}
		m.done(cl, false)
	case queueRelease:
		cl.holds = false
		switch {
		case m.target == "release-deletes-slot":
			s.slots &^= 1 << cl.slot
		case *holder == int8(c+1) || m.target == "holder-shared":
			*holder = 0
		}
		m.done(cl, false)
	}
	return step
}

// claimed continues an acquire after its claim succeeded.
func (m *queueModel) claimed(cl *queueClient) {
	if cl.at = queueVerify; m.unverified {
		m.done(cl, true)
	}
}

// done ends a client's operation and moves on to the next that it can call.
func (m *queueModel) done(cl *queueClient, holds bool) {
	slot := cl.slot
	*cl = queueClient{op: cl.op + 1, holds: holds, existed: cl.existed}
	for int(cl.op) < len(m.calls) && (m.calls[cl.op] == "acquire") == holds {
		cl.op++
	}
	if holds {
		cl.slot = slot
	}
	if int(cl.op) < len(m.calls) && m.calls[cl.op] == "release" {
		cl.at = queueRelease
	}
}

// administer executes the administrator's next command. It searches for the last slot, and then deletes that slot or
// creates the next one.
func (m *queueModel) administer(s *queueState) string {
	a := &s.admin
	call := m.administrations[a.op]
	if a.at == 0 {
		if a.slot++; s.slots&(1<<a.slot) == 0 {
			a.at, a.slot = 1, a.slot-1
		}
		return "a1 probes a slot"
	}
	switch {
	case call == "add:1":
		s.slots |= 1 << (a.slot + 1)
	case a.slot > 0:
		s.slots &^= 1 << a.slot
	}
	a.op, a.at, a.slot = a.op+1, 0, 0
	return "a1: " + call
}

// end makes the broker notice that a client is gone: the client's B queues disappear.
func (m *queueModel) end(s *queueState, c int) {
	s.clients[c].gone = true
	for i := range s.holders {
		if s.holders[i] == int8(c+1) && m.target != "holder-shared" {
			s.holders[i] = 0
		}
	}
}

// next calls to with every step that is possible in a state.
func (m *queueModel) next(s queueState, to func(step string, s queueState, broken []string)) {
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.dead && !cl.gone {
			after := s
			m.end(&after, c)
			m.arrive(&s, after, fmt.Sprintf("the broker notices that c%d is gone", c+1), to)
		}
		if cl.dead || int(cl.op) >= len(m.calls) {
			continue
		}
		if s.crashes < m.crashes {
			after := s
			after.crashes++
			after.clients[c] = queueClient{dead: true, op: int8(len(m.calls))}
			if !m.late {
				m.end(&after, c)
			}
			m.arrive(&s, after, fmt.Sprintf("c%d dies", c+1), to)
		}
		after := s
		step := m.step(&after, c)
		m.arrive(&s, after, step, to)
	}
	if int(s.admin.op) < len(m.administrations) {
		after := s
		step := m.administer(&after)
		m.arrive(&s, after, step, to)
	}
}

// arrive completes a step: it updates the slots that existed during each call, and determines the properties that the
// step violates.
func (m *queueModel) arrive(before *queueState, s queueState, step string, to func(string, queueState, []string)) {
	var broken []string
	var held []int8
	for c := range s.clients {
		cl, was := &s.clients[c], &before.clients[c]
		if cl.holds && !was.holds && (was.existed|before.slots)&(1<<cl.slot) == 0 {
			broken = append(broken, "phantom")
		}
		if cl.holds && slices.Contains(held, cl.slot) {
			broken = append(broken, "two")
		}
		if cl.holds {
			held = append(held, cl.slot)
		}
		if cl.existed |= before.slots | s.slots; cl.at == queueSlot && cl.slot == 0 || cl.holds || cl.dead {
			cl.existed = 0
		}
	}
	to(step, s, broken)
}

// drawQueues draws a configuration of the persistent semaphore.
func drawQueues(r *rand.Rand) (c configuration, ask func(int) outcome) {
	m := &queueModel{target: pick(r, "semaphore", "semaphore", "locked-is-success", "probe-is-claim", "holder-shared", "release-deletes-slot")}
	c.target = m.target
	if m.target == "semaphore" {
		if m.unseen = r.IntN(3) == 0; m.unseen {
			c.set("claim", "unseen")
		}
		if m.unverified = r.IntN(3) == 0; m.unverified {
			c.set("verify-first", "false")
		}
	}
	if m.stay = r.IntN(2) == 0; m.stay {
		c.set("restart", "stay")
	}
	m.retries = pick[int8](r, 0, 1, 2)
	c.set("retries", m.retries)
	c.set("pipeline", pick(r, 0, 2))
	c.clients, c.slots, c.admins = 2+r.IntN(2), 1+r.IntN(2), r.IntN(2)
	c.calls = pick(r, "acquire", "acquire,release", "acquire,release,acquire")
	if c.admins > 0 {
		c.adminCalls = pick(r, "remove:1", "remove:1,add:1", "add:1")
		m.administrations = strings.Split(c.adminCalls, ",")
	}
	c.faults = sim.FaultBounds{Crashes: r.IntN(2), Late: r.IntN(2) == 0}
	m.clients, m.slots, m.calls = c.clients, c.slots, strings.Split(c.calls, ",")
	m.crashes, m.late = int8(c.faults.Crashes), c.faults.Late
	var start queueState
	for i := 1; i <= m.slots; i++ {
		start.slots |= 1 << i
	}
	return c, func(most int) outcome { return visit(start, most, m.next) }
}

func TestRabbitMQ(t *testing.T) {
	agree(t, 8, compared{"two": {property.MutualExclusion}, "phantom": {property.NoPhantomSlot}}, drawQueues)
}

// TestAny compares with explore for any number of clients. What the naive model violates with a few clients must not be
// proved for any number.
func TestAny(t *testing.T) {
	agree(t, 4, compared{"two": {property.MutualExclusion}, "phantom": {property.NoPhantomSlot}}, func(r *rand.Rand) (configuration, func(int) outcome) {
		c, ask := drawQueues(r)
		c.any, c.faults.Late = true, true
		return c, ask
	})
}
