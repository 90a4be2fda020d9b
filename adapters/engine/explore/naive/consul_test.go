package naive_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// consulModel is a configuration of the semaphore in Consul's guide. Its fields are options of the lock. Sets of
// clients are bit sets.
type consulModel struct {
	unconfirmed, blind, credulous, atMost, late bool
	prune, removes                              string
	retries, crashes                            int8
	clients, slots                              int
	calls                                       []string
}

// The program counter of a client: the requests of an acquire, then the requests of a release.
const (
	consulKey int8 = iota
	consulLive
	consulRead
	consulWrite
	consulConfirm
	consulFull
	consulGaveUp
	consulUnread
	consulUnwrite
	consulUnkey
)

var consulNames = [...]string{"takes its key", "reads who is alive", "reads", "writes itself into the lock", "reads again",
	"is refused", "gives up", "reads to release", "writes itself out of the lock", "deletes its key"}

type consulClient struct {
	op, at, tries           int8
	holds, full, dead, gone bool
	there                   bool  // whether the lock's key existed when the client read it
	index, holders, live    uint8 // the key's index and holders, and the live sessions, when the client read them
}

type consulState struct {
	there                bool
	index, holders, live uint8
	clients              [3]consulClient
	crashes              int8
}

// write writes the lock's key if it is unchanged since the client read it (compare and set).
func (m *consulModel) write(s *consulState, cl *consulClient, holders uint8) bool {
	if !m.blind && (s.there != cl.there || s.there && s.index != cl.index) {
		return false
	}
	s.there, s.holders = true, holders
	s.index++
	return true
}

// read reads the lock's key and, depending on the option prune, the live sessions.
func (m *consulModel) read(s *consulState, cl *consulClient) {
	cl.there, cl.index, cl.holders = s.there, s.index, s.holders
	switch {
	case m.prune == "none":
		cl.live = 7
	case m.prune != "two-reads":
		cl.live = s.live
	}
}

// again makes a client try again, beginning with the request that at gives. Without retries left, it gives up.
func (m *consulModel) again(cl *consulClient, at int8) {
	if cl.at = at; cl.tries >= m.retries {
		cl.at = consulGaveUp
	}
	cl.tries++
}

// first returns the first read request of an acquire.
func (m *consulModel) first() int8 {
	if m.prune == "two-reads" {
		return consulLive
	}
	return consulRead
}

// done ends a client's operation and moves on to the next that it can call.
func (m *consulModel) done(cl *consulClient, holds bool) {
	*cl = consulClient{op: cl.op + 1, holds: holds}
	for int(cl.op) < len(m.calls) && (m.calls[cl.op] == "acquire") == holds {
		cl.op++
	}
	if int(cl.op) < len(m.calls) && m.calls[cl.op] == "release" {
		cl.at = consulUnread
	}
}

// step executes a client's next request.
func (m *consulModel) step(s *consulState, c int) (step string, broken []string) {
	cl := &s.clients[c]
	bit := uint8(1) << c
	step = fmt.Sprintf("c%d %s", c+1, consulNames[cl.at])
	switch cl.at {
	case consulKey:
		s.live |= bit
		cl.at = m.first()
	case consulLive:
		cl.live, cl.at = s.live, consulRead
	case consulRead:
		m.read(s, cl)
		n, room := bits.OnesCount8(cl.holders&cl.live), m.slots
		if m.atMost {
			room++
		}
		if cl.at = consulWrite; cl.there && n >= room {
			cl.at = consulFull
		}
	case consulWrite:
		won := m.write(s, cl, cl.holders&cl.live|bit)
		switch {
		case !won && !m.credulous:
			m.again(cl, m.first())
		case m.unconfirmed:
			m.done(cl, true)
		default:
			cl.at = consulConfirm
		}
	case consulConfirm:
		if s.there && s.holders&bit != 0 && s.live&bit != 0 {
			m.done(cl, true)
		} else {
			m.again(cl, m.first())
		}
	case consulFull, consulGaveUp:
		if cl.at == consulFull && !cl.full {
			broken = append(broken, "full")
		}
		s.live &^= bit
		m.done(cl, false)
	case consulUnread:
		cl.holds = false
		m.read(s, cl)
		if cl.at = consulUnwrite; m.removes == "nobody" || !cl.there {
			cl.at = consulUnkey
		}
	case consulUnwrite:
		m.leave(s, cl, bit)
	case consulUnkey:
		s.live &^= bit
		m.done(cl, false)
	}
	return step, broken
}

// leave removes holders from the lock's key during a release: the client itself, or all holders if removes is
// "everyone". If removes is "key", it deletes the key.
func (m *consulModel) leave(s *consulState, cl *consulClient, bit uint8) {
	switch m.removes {
	case "key":
		s.there, s.holders, cl.at = false, 0, consulUnkey
		return
	case "everyone":
		if m.write(s, cl, 0) {
			cl.at = consulUnkey
			return
		}
	default:
		if m.write(s, cl, cl.holders&^bit) {
			cl.at = consulUnkey
			return
		}
	}
	if m.again(cl, consulUnread); cl.at == consulGaveUp {
		cl.at = consulUnkey
	}
}

// next calls to with every step that is possible in a state.
func (m *consulModel) next(s consulState, to func(step string, s consulState, broken []string)) {
	arrive := func(step string, s consulState, broken []string) {
		believe := 0
		for c := range s.clients {
			if s.clients[c].holds {
				believe++
			}
		}
		if believe > m.slots {
			broken = append(slices.Clone(broken), "many")
		}
		for c := range s.clients {
			cl := &s.clients[c]
			held := s.holders & s.live
			if m.prune == "none" {
				held = s.holders // without pruning, dead clients stay in the lock's key
			}
			cl.full = cl.full || cl.at > consulKey && cl.at <= consulGaveUp && bits.OnesCount8(held) >= m.slots
		}
		to(step, s, broken)
	}
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.dead && !cl.gone {
			after := s
			after.clients[c].gone = true
			after.live &^= 1 << c
			arrive(fmt.Sprintf("the session of c%d ends", c+1), after, nil)
		}
		if cl.dead || int(cl.op) >= len(m.calls) {
			continue
		}
		if s.crashes < m.crashes {
			after := s
			after.crashes++
			after.clients[c] = consulClient{dead: true, gone: !m.late, op: int8(len(m.calls))}
			if !m.late {
				after.live &^= 1 << c
			}
			arrive(fmt.Sprintf("c%d dies", c+1), after, nil)
		}
		after := s
		step, broken := m.step(&after, c)
		arrive(step, after, broken)
	}
}

// drawConsul draws a configuration of the semaphore in Consul's guide.
func drawConsul(r *rand.Rand) (c configuration, ask func(int) outcome) {
	m := &consulModel{}
	flip := func(of int, name, value string) bool {
		if r.IntN(of) != 0 {
			return false
		}
		c.set(name, value)
		return true
	}
	c.target = "consul-semaphore"
	m.unconfirmed = flip(2, "confirm", "false")
	m.blind = flip(4, "write", "put")
	m.credulous = flip(5, "claim", "ignored")
	m.atMost = flip(6, "compare", "at-most")
	flip(2, "watch", "false")
	m.prune, m.removes = pick(r, "one-read", "one-read", "two-reads", "none"), pick(r, "oneself", "oneself", "nobody", "everyone", "key")
	c.set("prune", m.prune)
	c.set("removes", m.removes)
	m.retries = pick[int8](r, 0, 1, 2)
	c.set("retries", m.retries)
	c.clients, c.slots = 2+r.IntN(2), 1+r.IntN(2)
	c.calls = pick(r, "acquire", "acquire,release", "acquire,release,acquire")
	c.faults = sim.FaultBounds{Crashes: r.IntN(2), Late: r.IntN(2) == 0}
	m.clients, m.slots, m.calls = c.clients, c.slots, strings.Split(c.calls, ",")
	m.crashes, m.late = int8(c.faults.Crashes), c.faults.Late
	return c, func(most int) outcome { return visit(consulState{}, most, m.next) }
}

func TestConsul(t *testing.T) {
	agree(t, 8, compared{
		"many": {property.MutualExclusion, property.NoPhantomSlot, property.LimitRespected},
		"full": {property.HonestFull},
	}, drawConsul)
}
