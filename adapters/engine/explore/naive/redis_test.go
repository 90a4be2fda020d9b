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

// redisModel is a configuration of the priority lock on one Redis server. Its fields are options of the lock. Times are
// in milliseconds.
type redisModel struct {
	claims, longest, leave, equal, proceed, before, afterOwn, silent, free bool
	deletes, byClock, deaf                                                 bool
	victims                                                                string
	lease, above, margin                                                   int8
	wait                                                                   int // maximum wait, in percent of the lease
	calls                                                                  []string
	clients                                                                int
	crashes                                                                int8
}

// redisClaim is a claim on the lock: the client, the number of the client's acquire (from 1), its priority, and the
// milliseconds until it expires.
type redisClaim struct{ client, number, priority, left int8 }

// redisEntry is the lock's value on the server. The last claim in it is on top.
type redisEntry [6]redisClaim

// What a client is doing.
const (
	redisIdle int8 = iota
	redisWaits
	redisReady // all victims have acknowledged
	redisGivesUp
	redisDead
)

type redisClient struct {
	op, doing, number, priority int8
	holds                       bool
	unsettled                   int8 // bit n: the client gave up its n-th acquire while a victim may still have worked
	belief, waits, age          int8
	asked                       [3]int8 // for each victim: 1 if asked to stop, 2 if it has acknowledged
	owes, thefts                [3]int8 // unread messages, by thief: number of the stolen and of the thief's acquire
	sworn                       [3]int8 // acknowledgements in flight, by thief: number of the thief's acquire, or 0
	owed                        [3]int8 // acknowledgements to send, by thief, when the own victims have acknowledged
	stops                       int8    // the thief, from 1, acknowledged before the client stopped working; 0: none
}

type redisState struct {
	entry   redisEntry
	clients [3]redisClient
	crashes int8
}

// length returns the lease that a client with this priority asks for.
func (m *redisModel) length(priority int8) int8 {
	if priority > 1 && m.above > 0 {
		return m.above
	}
	return m.lease
}

// pass lets one millisecond pass.
func (m *redisModel) pass(s *redisState) {
	var left redisEntry
	n := 0
	for _, e := range s.entry {
		if e.client == 0 {
			continue
		}
		if e.left--; e.left > 0 {
			left[n] = e
			n++
		}
	}
	s.entry = left
	for c := range s.clients {
		cl := &s.clients[c]
		if cl.doing == redisWaits || cl.doing == redisReady {
			cl.waits = max(cl.waits-1, 0)
			cl.age = min(cl.age+1, 100)
		}
		if cl.holds {
			if cl.belief--; cl.belief <= 0 {
				cl.holds, cl.belief = false, 0
			}
		}
	}
}

// without removes a claim from the lock's value, and reports whether it was there.
func (s *redisState) without(client, number int8) (was bool) {
	var left redisEntry
	n := 0
	for _, e := range s.entry {
		switch {
		case e.client == 0:
		case e.client == client && e.number == number:
			was = true
		default:
			left[n] = e
			n++
		}
	}
	s.entry = left
	return was
}

// acquire executes the script of an acquire, and makes the client process the reply. It returns the outcome in words.
func (m *redisModel) acquire(s *redisState, c int, priority int8) string {
	cl := &s.clients[c]
	cl.number++
	cl.priority = priority
	var old []redisClaim
	for _, e := range s.entry {
		if e.client == 0 {
			continue
		}
		if e.priority > priority || e.priority == priority && !m.equal {
			cl.op++
			return "is refused"
		}
		old = append(old, e)
	}
	mine := redisClaim{client: int8(c + 1), number: cl.number, priority: priority, left: m.length(priority)}
	if !m.claims {
		if m.longest && len(old) > 0 {
			mine.left = max(mine.left, old[0].left)
		}
		s.entry = redisEntry{mine}
	} else {
		s.entry[len(old)] = mine
	}
	waiting := false
	for i, e := range old {
		if m.victims == "none" || m.victims == "first" && i > 0 {
			continue
		}
		own := e.client == mine.client
		if own && (!m.silent || cl.unsettled&(1<<e.number) == 0) {
			continue // the client takes it that no victim of its own earlier acquire still works
		}
		waiting = true
		cl.asked[e.client-1] = 1
		if own {
			continue // waits for a victim of its own earlier acquire, which may still work; no message is sent
		}
		s.clients[e.client-1].owes[c], s.clients[e.client-1].thefts[c] = e.number, cl.number
	}
	if !waiting {
		m.grant(s, c, 0)
		return "holds"
	}
	cl.doing, cl.waits, cl.age = redisWaits, int8(int(m.length(priority))*m.wait/100), 0
	return "asks"
}

// grant makes a client believe that it holds the lock, age milliseconds after it sent its command. If the lease is over
// by then, the client gives up.
func (m *redisModel) grant(s *redisState, c int, age int8) {
	cl := &s.clients[c]
	belief := m.length(cl.priority) - m.margin
	if !m.free {
		belief -= age
	}
	if belief <= 0 {
		m.giveUp(s, c)
		return
	}
	cl.doing, cl.asked, cl.waits, cl.age = redisIdle, [3]int8{}, 0, 0
	cl.holds, cl.belief = true, belief
	cl.op++
}

// answer makes a client process the message that a thief has stolen the lock. The client acknowledges when it has
// stopped working.
func (m *redisModel) answer(s *redisState, c, thief int, number int8) {
	cl := &s.clients[c]
	theft := cl.thefts[thief]
	cl.owes[thief], cl.thefts[thief] = 0, 0
	switch {
	case cl.number == number && cl.holds && m.before:
		cl.sworn[thief], cl.stops = theft, int8(thief+1)
	case cl.number == number && cl.holds:
		cl.holds, cl.belief = false, 0
		cl.sworn[thief] = theft
	case cl.number == number && (cl.doing == redisWaits || cl.doing == redisReady):
		if m.afterOwn && cl.doing == redisWaits {
			cl.owed[thief] = theft
			return
		}
		cl.sworn[thief] = theft
		m.giveUp(s, c)
	case m.silent && cl.unsettled&(1<<number) != 0:
	default:
		cl.sworn[thief] = theft
	}
}

// giveUp makes a client that waits for acknowledgements give up.
func (m *redisModel) giveUp(s *redisState, c int) {
	cl := &s.clients[c]
	if slices.Contains(cl.asked[:], 1) {
		cl.unsettled |= 1 << cl.number
	}
	cl.asked, cl.waits, cl.age, cl.owed = [3]int8{}, 0, 0, [3]int8{}
	if cl.doing = redisGivesUp; m.leave {
		cl.doing = redisIdle
		cl.op++
	}
}

// violated returns the properties that a state violates.
func (m *redisModel) violated(s *redisState) []string {
	n := 0
	for c := range s.clients {
		if s.clients[c].holds {
			n++
		}
	}
	if n > 1 {
		return []string{"two"}
	}
	return nil
}

// next calls to with every step that is possible in a state.
func (m *redisModel) next(s redisState, to func(step string, s redisState, broken []string)) {
	arrive := func(step string, s redisState) { to(step, s, m.violated(&s)) }
	due := false
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.doing != redisWaits || cl.waits > 0 {
			continue
		}
		due = true
		after := s
		if m.proceed {
			m.pass(&after)
			m.grant(&after, c, after.clients[c].age)
			arrive(fmt.Sprintf("c%d has waited, and goes on", c+1), after)
		} else {
			m.pass(&after)
			m.giveUp(&after, c)
			arrive(fmt.Sprintf("c%d has waited, and gives up", c+1), after)
		}
	}
	if due {
		return
	}
	after := s
	m.pass(&after)
	arrive("a millisecond", after)
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.doing == redisDead {
			continue
		}
		if s.crashes < m.crashes {
			after := s
			after.crashes++
			after.clients[c] = redisClient{doing: redisDead, op: int8(len(m.calls))}
			arrive(fmt.Sprintf("c%d dies", c+1), after)
		}
		m.messages(s, c, arrive)
		m.step(s, c, arrive)
	}
}

// messages takes the steps in which client c reads a message.
func (m *redisModel) messages(s redisState, c int, arrive func(string, redisState)) {
	cl := &s.clients[c]
	for d := range m.clients {
		if cl.owes[d] != 0 {
			after := s
			m.pass(&after)
			m.answer(&after, c, d, cl.owes[d])
			arrive(fmt.Sprintf("c%d reads that c%d has stolen from it", c+1, d+1), after)
		}
		if v := &s.clients[d]; v.sworn[c] != 0 {
			after := s
			m.pass(&after)
			after.clients[d].sworn[c] = 0
			if v.sworn[c] == cl.number {
				m.acknowledged(&after, c, d)
			}
			arrive(fmt.Sprintf("c%d reads that c%d has stopped", c+1, d+1), after)
		}
	}
}

// acknowledged makes a thief process a victim's acknowledgement.
func (m *redisModel) acknowledged(s *redisState, c, victim int) {
	cl := &s.clients[c]
	if cl.doing != redisWaits || cl.asked[victim] != 1 {
		return
	}
	cl.asked[victim] = 2
	if slices.Contains(cl.asked[:], 1) {
		return
	}
	if cl.owed == [3]int8{} {
		cl.doing = redisReady
		return
	}
	for d, owed := range cl.owed {
		if owed != 0 {
			cl.sworn[d] = owed
		}
	}
	m.giveUp(s, c) // the client's thieves get their acknowledgements, and none of its victims still works
}

// step takes the client's next step that needs no message.
func (m *redisModel) step(s redisState, c int, arrive func(string, redisState)) {
	cl := &s.clients[c]
	if cl.stops != 0 {
		cl.stops, cl.holds, cl.belief = 0, false, 0
		arrive(fmt.Sprintf("c%d stops working", c+1), s)
		return
	}
	if cl.doing == redisReady {
		m.pass(&s)
		m.grant(&s, c, cl.age)
		arrive(fmt.Sprintf("c%d goes on: all have stopped", c+1), s)
		return
	}
	if cl.doing == redisGivesUp {
		m.pass(&s)
		s.without(int8(c+1), cl.number)
		cl.doing = redisIdle
		cl.op++
		arrive(fmt.Sprintf("c%d takes its claim back", c+1), s)
		return
	}
	if cl.doing == redisWaits || int(cl.op) >= len(m.calls) {
		return
	}
	call, arg, _ := strings.Cut(m.calls[cl.op], ":")
	switch {
	case (call == "acquire") == cl.holds:
		cl.op++
		arrive(fmt.Sprintf("c%d has nothing to %s", c+1, call), s)
		return
	case call == "acquire":
		m.pass(&s)
		how := m.acquire(&s, c, int8(arg[0]-'0'))
		arrive(fmt.Sprintf("c%d acquires with priority %s: %s", c+1, arg, how), s)
		return
	case call == "verify" && m.byClock:
		cl.op++
		arrive(fmt.Sprintf("c%d verifies by its clock", c+1), s)
		return
	}
	if m.pass(&s); !cl.holds {
		cl.op++
		arrive(fmt.Sprintf("c%d has nothing to %s any more", c+1, call), s)
		return
	}
	own := false
	for i := range s.entry {
		e := &s.entry[i]
		if e.client != int8(c+1) || e.number != cl.number {
			continue
		}
		if call == "refresh" && i+1 < len(s.entry) && s.entry[i+1].client != 0 {
			continue // the claim was stolen: refresh does not extend it
		}
		own = true
		if call == "refresh" {
			e.left = m.length(cl.priority)
		}
	}
	switch {
	case call == "release":
		if s.without(int8(c+1), cl.number); m.deletes {
			s.entry = redisEntry{}
		}
		cl.holds, cl.belief = false, 0
	case call == "refresh" && (own || m.deaf):
		if cl.belief = m.length(cl.priority) - m.margin; cl.belief > 0 {
			cl.holds = true
		}
	case !own:
		cl.holds, cl.belief = false, 0
	}
	cl.op++
	arrive(fmt.Sprintf("c%d: %s, its own: %v", c+1, call, own), s)
}

// drawRedis draws a configuration of the priority lock on one Redis server.
func drawRedis(r *rand.Rand) (c configuration, ask func(int) outcome) {
	m := &redisModel{claims: r.IntN(2) == 0, wait: 100}
	flip := func(of int, name, value string) bool {
		if r.IntN(of) != 0 {
			return false
		}
		c.set(name, value)
		return true
	}
	switch c.target = "priority-lock"; {
	case m.claims:
	case r.IntN(2) == 0:
		c.target, m.afterOwn, m.silent = "priority-text", true, true
	default:
		c.target, m.longest, m.leave, m.afterOwn, m.silent = "priority-lock-left", true, true, true, true
	}
	if !m.claims {
		m.equal, m.deletes = flip(4, "equal", "steal"), flip(5, "release", "delete")
	}
	m.proceed = flip(5, "unanswered", "proceed")
	m.before = flip(5, "ack", "before-work")
	flip(5, "validity", "reply") // no effect on the model: one server replies in the millisecond of the command
	m.free = flip(5, "wait-counts", "false")
	m.deaf = flip(5, "extension", "ignored")
	m.byClock = flip(2, "verify", "clock")
	if m.victims = pick(r, "every", "every", "every", "first", "none"); m.victims != "every" {
		c.set("victims", m.victims)
	}
	m.lease = pick[int8](r, 12, 16)
	c.set("lease", m.lease)
	if m.above = pick[int8](r, 0, 0, 8, 24); m.above > 0 {
		c.set("lease-above", m.above)
	}
	if m.wait = pick(r, 100, 100, 50); m.wait != 100 {
		c.set("wait", m.wait)
	}
	if m.margin = pick[int8](r, 0, 0, 2); m.margin > 0 {
		c.set("margin", m.margin)
	}
	c.clients, c.slots = 2+r.IntN(2), 1
	c.calls = pick(r, "acquire:1,release,acquire:2", "acquire:1,verify,acquire:2,release", "acquire:2,release,acquire:1", "acquire:1,refresh,acquire:2",
		"acquire:2,acquire:1")
	c.faults = sim.FaultBounds{Crashes: r.IntN(2), Late: true}
	m.clients, m.calls, m.crashes = c.clients, strings.Split(c.calls, ","), int8(c.faults.Crashes)
	return c, func(most int) outcome { return visit(redisState{}, most, m.next) }
}

func TestRedis(t *testing.T) {
	agree(t, 6, compared{"two": {property.MutualExclusion}}, drawRedis, 60208, 60241, 60268, 71114, 71170)
}
