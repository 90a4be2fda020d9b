package naive_test

// at returns the command that a client executes next.
func (m *sqlModel) at(cl *sqlClient) sqlCommand {
	if cl.pc < 0 {
		return sqlRollback
	}
	return m.programs[m.calls[cl.op]][cl.pc]
}

// believes reports whether a client believes that it holds a slot.
func (m *sqlModel) believes(cl *sqlClient) bool {
	return cl.slot != 0 && !cl.dead && !m.releasing(cl) && (m.deadline == "never" || cl.deadline > 0)
}

// releasing reports whether a client has begun to release.
func (m *sqlModel) releasing(cl *sqlClient) bool {
	return int(cl.op) < len(m.calls) && m.calls[cl.op] == "release" && (cl.pc != 0 || cl.wait != 0)
}

// finish ends a client's operation and moves on to the next that it can call.
func (m *sqlModel) finish(cl *sqlClient) {
	*cl = sqlClient{op: cl.op + 1, dead: cl.dead, slot: cl.slot, deadline: cl.deadline, until: cl.until, begun: m.oldest, stated: m.oldest, sent: m.oldest}
	if cl.slot == 0 {
		cl.deadline, cl.until = m.oldest, m.oldest
	}
	for int(cl.op) < len(m.calls) && (m.calls[cl.op] == "acquire") == (cl.slot != 0) {
		cl.op++ // skips a refresh or release without a slot, and an acquire with one
	}
}

// heed makes a client process a reply. It returns the properties that this violates.
func (m *sqlModel) heed(s *sqlState, c int, k sqlCommand, rows, failure int8) (broken []string) {
	cl := &s.clients[c]
	acquiring := m.calls[cl.op] == "acquire"
	autocommit := m.slotForm && !acquiring
	if failure != sqlOK && !(failure == sqlTimeout && m.proceed) {
		switch {
		case cl.try < m.retries && autocommit:
			cl.try++
			return nil
		case cl.try < m.retries:
			cl.pc = sqlAgain
		case acquiring:
			cl.pc = sqlGaveUp
		default:
			cl.pc = sqlGaveUp
			if autocommit {
				return m.gaveUp(cl)
			}
		}
		return nil
	}
	if failure != sqlOK && (k != sqlFind || m.postgres) {
		rows = 1 // with the option proceed, a timeout counts as success
	}
	switch {
	case k == sqlRollback:
		switch cl.pc {
		case sqlAgain:
			cl.pc, cl.try = 0, cl.try+1
			cl.sent = m.oldest
		case sqlFull:
			if !cl.full && cl.seen != 1<<m.slots-1 {
				broken = append(broken, "full")
			}
			m.finish(cl)
		case sqlGone:
			cl.slot = 0
			m.finish(cl)
		default:
			return m.gaveUp(cl)
		}
		return broken
	case (k == sqlFind || k == sqlSubclaim || k == sqlMaster || k == sqlWhich) && acquiring && rows == 0:
		cl.pc = sqlFull
		return nil
	case (k == sqlCountFirst && m.counted == "before-lock" || k == sqlCount) && int(rows) >= m.slots:
		cl.pc = sqlFull
		return nil
	case k == sqlExtend && rows == 0 && !autocommit:
		cl.pc = sqlGone
		return nil
	case k == sqlExtend && rows == 0:
		cl.slot = 0
		m.finish(cl)
		return nil
	}
	if int(cl.pc)+1 < len(m.programs[m.calls[cl.op]]) {
		cl.pc++
		return nil
	}
	return m.done(s, c)
}

// gaveUp ends an operation that failed.
func (m *sqlModel) gaveUp(cl *sqlClient) []string {
	if m.calls[cl.op] == "release" {
		cl.slot = 0
	}
	m.finish(cl)
	return nil
}

// done ends an operation that succeeded: an acquire, a refresh or a release.
func (m *sqlModel) done(s *sqlState, c int) (broken []string) {
	cl := &s.clients[c]
	call := m.calls[cl.op]
	if call == "release" {
		cl.slot = 0
		m.finish(cl)
		return nil
	}
	if call == "refresh" && !(cl.lived && cl.extended) {
		broken = append(broken, "renewal")
	}
	cl.deadline = cl.sent + m.lease
	if m.deadline == "reply" {
		cl.deadline = m.lease
	}
	cl.until = m.oldest
	switch {
	case !m.slotForm:
		cl.slot = 1
	case call == "acquire":
		cl.slot = cl.found
	}
	for i := range s.rows {
		if i > 0 && s.rows[i].token == m.token(c, cl.op) {
			cl.until = s.rows[i].until
		}
	}
	if m.deadline != "never" && cl.deadline <= 0 {
		cl.slot = 0
	}
	m.finish(cl)
	return broken
}

// observe updates what each call in progress has seen, for example that all slots were taken at some moment. It returns
// the properties that are violated now.
func (m *sqlModel) observe(s *sqlState) (broken []string) {
	var live, held uint8
	first, last := m.span()
	n := 0
	for i := first; i <= last; i++ {
		r := &s.rows[i]
		if r.token != 0 && r.until > 0 || r.changed && r.newToken != 0 && r.newUntil > 0 {
			n++
			live |= 1 << (i - 1)
		}
	}
	believers := 0
	for c := range s.clients {
		if cl := &s.clients[c]; m.believes(cl) {
			believers++
			bit := uint8(1) << (cl.slot - 1)
			if m.slotForm && held&bit != 0 {
				broken = append(broken, "many")
			}
			held |= bit
		}
	}
	if believers > m.slots && !m.slotForm {
		broken = append(broken, "many")
	}
	for c := range s.clients {
		cl := &s.clients[c]
		if int(cl.op) >= len(m.calls) || cl.pc == 0 && cl.wait == 0 && cl.try == 0 {
			continue
		}
		switch m.calls[cl.op] {
		case "acquire":
			cl.full = cl.full || n >= m.slots
			if m.slotForm {
				cl.seen |= live
			}
		case "refresh":
			for i := first; i <= last; i++ {
				r := &s.rows[i]
				cl.lived = cl.lived || r.token == m.token(c, cl.op) && r.until >= 0
			}
		}
	}
	return broken
}

// complete stores the result of a command that had to wait for a row lock.
func (m *sqlModel) complete(s *sqlState, c int, k sqlCommand, rows, failure int8) {
	cl := &s.clients[c]
	cl.wait, cl.rows, cl.failure, cl.waited, cl.at = 2, rows, failure, 0, 0
	m.ended(s, c, k, failure)
}

// ended does what the server does at the end of a command. It commits a command outside of a transaction, and rolls a
// failed transaction back.
func (m *sqlModel) ended(s *sqlState, c int, k sqlCommand, failure int8) {
	cl := &s.clients[c]
	switch {
	case !cl.inTransaction:
		m.end(s, c, failure == sqlOK)
	case failure != sqlOK && m.postgres: // PostgreSQL has already released the locks
		m.end(s, c, false)
		cl.inTransaction, cl.aborted = true, true
	case failure == sqlSerialization:
		m.end(s, c, false)
	}
	if cl.dead && cl.noticed {
		m.end(s, c, false)
	}
}

// granted makes a client process a reply. It also checks whether a grant ignores another client's lease.
func (m *sqlModel) granted(s *sqlState, c int, k sqlCommand, rows, failure int8) []string {
	was := s.clients[c].slot
	call := m.calls[s.clients[c].op]
	s.clients[c].extended = s.clients[c].extended || k == sqlExtend && failure == sqlOK && rows > 0
	broken := m.heed(s, c, k, rows, failure)
	cl := &s.clients[c]
	if cl.slot == 0 || was != 0 || call != "acquire" {
		return broken
	}
	leases, live := 0, 0
	for i := 1; i < len(s.rows); i++ {
		if s.rows[i].token != 0 && s.rows[i].until >= 0 { // a lease is over if until < now
			live++
		}
	}
	if live > m.slots {
		broken = append(broken, "many")
	}
	for d := range s.clients {
		o := &s.clients[d]
		if d == c || o.slot == 0 || o.until <= 0 || m.slotForm && o.slot != cl.slot || m.releasing(o) {
			continue
		}
		leases++
	}
	if m.slotForm && leases > 0 {
		broken = append(broken, "lease")
	}
	return broken
}
