package naive_test

import (
	"fmt"
	"slices"
)

// pass lets one millisecond pass. Times that no longer matter are set to the oldest time, so that there are fewer
// states.
func (m *sqlModel) pass(s *sqlState) {
	earliest := int16(0) // earliest time that a command in progress still reads
	for c := range s.clients {
		cl := &s.clients[c]
		for _, t := range []*int16{&cl.begun, &cl.stated, &cl.sent, &cl.deadline, &cl.until} {
			*t = max(*t-1, m.oldest)
		}
		if cl.wait != 1 {
			cl.stated = m.oldest
		}
		if !cl.inTransaction || m.clock != "transaction" {
			cl.begun = m.oldest
		}
		if cl.deadline <= 0 {
			cl.deadline = m.oldest
		}
		if cl.until < 0 {
			cl.until = m.oldest
		}
		if cl.sent < -m.lease {
			cl.sent = m.oldest
		}
		if cl.wait == 1 {
			earliest = min(earliest, cl.stated)
			if m.lockWait > 0 {
				cl.waited++
			}
		}
		if cl.begun != m.oldest {
			earliest = min(earliest, cl.begun)
		}
	}
	less := func(t *int16) {
		if *t--; *t < earliest {
			*t = m.oldest
		}
	}
	for i := range s.rows {
		less(&s.rows[i].until)
		less(&s.rows[i].newUntil)
	}
	for c := range s.clients {
		if cl := &s.clients[c]; cl.snapshot {
			for i := range cl.old {
				less(&cl.old[i].until)
			}
		}
	}
}

// patient reports whether more time may pass. It stops time when a waiting command or an open transaction is very old.
func (m *sqlModel) patient(s *sqlState) bool {
	for c := range s.clients {
		cl := &s.clients[c]
		if cl.wait == 1 && cl.stated < -2*m.lease-2 || cl.begun != m.oldest && cl.begun < -2*m.lease-2 {
			return false
		}
	}
	return true
}

// settle continues commands that wait, in every order, as long as the row locks that they need are free.
func (m *sqlModel) settle(s sqlState, each func(s sqlState)) {
	moved := false
	for c := range s.clients {
		if cl := &s.clients[c]; cl.wait != 1 {
			continue
		}
		after := s
		k := m.at(&after.clients[c])
		rows, failure, waits := m.execute(&after, c, k)
		if waits && after == s {
			continue
		}
		moved = true
		if !waits { // otherwise the command now waits for another row
			m.complete(&after, c, k, rows, failure)
		}
		m.settle(after, each)
	}
	if !moved {
		each(s)
	}
}

// next calls to with every step that is possible in a state.
func (m *sqlModel) next(s sqlState, to func(step string, s sqlState, broken []string)) {
	arrive := func(step string, s sqlState, broken []string) {
		m.settle(s, func(s sqlState) {
			to(step, s, append(slices.Clone(broken), m.observe(&s)...))
		})
	}
	due := false
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.wait == 1 && m.lockWait > 0 && cl.waited >= m.lockWait {
			due = true
			after := s
			m.complete(&after, c, m.at(cl), 0, sqlTimeout)
			arrive(fmt.Sprintf("c%d has waited too long", c+1), after, nil)
		}
	}
	if due {
		return
	}
	after := s
	m.pass(&after)
	if after != s && m.patient(&s) {
		arrive("a millisecond", after, nil)
	}
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.dead && !cl.noticed {
			after := s
			m.notice(&after, c)
			arrive(fmt.Sprintf("the server notices that c%d is dead", c+1), after, nil)
		}
		if cl.dead || int(cl.op) >= len(m.calls) {
			continue
		}
		if s.crashes < m.crashes {
			after := s
			after.crashes++
			after.clients[c].dead = true
			if !m.late {
				m.notice(&after, c)
			}
			arrive(fmt.Sprintf("c%d dies", c+1), after, nil)
		}
		m.step(s, c, arrive)
	}
}

// notice makes the server end a dead client's session. A command that waits still completes.
func (m *sqlModel) notice(s *sqlState, c int) {
	cl := &s.clients[c]
	cl.noticed = true
	if cl.wait != 1 {
		m.end(s, c, false)
		*cl = sqlClient{op: int8(len(m.calls)), dead: true, noticed: true, begun: m.oldest, stated: m.oldest, sent: m.oldest, deadline: m.oldest, until: m.oldest}
	}
}

// step makes a client send its next command, or read the result of a command that had to wait. It takes one
// millisecond.
func (m *sqlModel) step(s sqlState, c int, arrive func(step string, s sqlState, broken []string)) {
	cl := &s.clients[c]
	k := m.at(cl)
	switch cl.wait {
	case 1:
		return
	case 2:
		m.pass(&s)
		rows, failure := cl.rows, cl.failure
		cl.wait, cl.rows, cl.failure, cl.candidates = 0, 0, 0, 0
		broken := m.granted(&s, c, k, rows, failure)
		arrive(fmt.Sprintf("c%d: %s, that waited: %d rows, failure %d", c+1, sqlNames[k], rows, failure), s, broken)
		return
	}
	call := m.calls[cl.op]
	if cl.pc == 0 && cl.try == 0 {
		if cl.slot != 0 && !m.believes(cl) {
			cl.slot = 0
			cl.op--
			m.finish(cl)
			arrive(fmt.Sprintf("c%d: its time is over", c+1), s, nil)
			return
		}
		if m.lockWait == 0 || !m.overdue(&s) {
			cl.wait = 2 // makes observe treat the call that begins now as a call in progress
			m.observe(&s)
			cl.wait = 0
		}
	}
	m.pass(&s)
	cl.stated = 0
	if k == sqlInsert || k == sqlClaim || k == sqlSubclaim || k == sqlExtend {
		cl.sent = 0
	}
	rows, failure, waits := m.execute(&s, c, k)
	if waits {
		cl.wait = 1
		victim, any := m.deadlock(&s, c)
		if any && victim != c {
			m.complete(&s, victim, m.at(&s.clients[victim]), 0, sqlSerialization)
		}
		if !any || victim != c {
			arrive(fmt.Sprintf("c%d %s: %s: waits", c+1, call, sqlNames[k]), s, nil)
			return
		}
		cl.wait, rows, failure = 0, 0, sqlSerialization
	}
	m.ended(&s, c, k, failure)
	cl.candidates = 0
	broken := m.granted(&s, c, k, rows, failure)
	arrive(fmt.Sprintf("c%d %s: %s: %d rows, failure %d", c+1, call, sqlNames[k], rows, failure), s, broken)
}

func (m *sqlModel) overdue(s *sqlState) bool {
	for c := range s.clients {
		if s.clients[c].wait == 1 && s.clients[c].waited >= m.lockWait {
			return true
		}
	}
	return false
}

func (m *sqlModel) start() (s sqlState) {
	for i := range s.rows {
		s.rows[i].until, s.rows[i].newUntil = m.oldest, m.oldest
	}
	for c := range s.clients {
		cl := &s.clients[c]
		cl.begun, cl.stated, cl.sent, cl.deadline, cl.until = m.oldest, m.oldest, m.oldest, m.oldest, m.oldest
	}
	return s
}
