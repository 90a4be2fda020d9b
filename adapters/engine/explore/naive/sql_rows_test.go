package naive_test

// sqlLists sets the commands of each operation.
func (m *sqlModel) sqlLists() {
	m.programs = map[string][]sqlCommand{"refresh": {sqlExtend}, "release": {sqlClear}}
	switch {
	case m.slotForm && m.claim == "subselect":
		m.programs["acquire"] = []sqlCommand{sqlBegin, sqlSubclaim, sqlWhich, sqlCommit}
	case m.slotForm:
		m.programs["acquire"] = []sqlCommand{sqlBegin, sqlFind, sqlClaim, sqlCommit}
	default:
		a := []sqlCommand{sqlBegin}
		if m.counted != "after-lock" {
			a = append(a, sqlCountFirst)
		}
		a = append(a, sqlMaster, sqlPurge)
		if m.counted != "before-lock" {
			a = append(a, sqlCount)
		}
		m.programs["acquire"] = append(a, sqlInsert, sqlCommit)
		m.programs["refresh"] = []sqlCommand{sqlBegin, sqlMaster, sqlExtend, sqlCommit}
		m.programs["release"] = []sqlCommand{sqlBegin, sqlMaster, sqlClear, sqlCommit}
	}
	m.oldest = -2*m.lease - 60
}

// token identifies the lease of the client's current acquire, or of its last acquire before operation op.
func (m *sqlModel) token(c int, op int8) int8 {
	n := int8(0)
	for _, call := range m.calls[:op+1] {
		if call == "acquire" {
			n++
		}
	}
	return int8(c)*2 + n
}

// now returns the server's time that a command of the client uses for leases, in milliseconds relative to the present.
func (m *sqlModel) now(cl *sqlClient) int16 {
	switch {
	case m.clock == "statement", m.clock == "transaction" && !cl.inTransaction:
		return cl.stated
	case m.clock == "transaction":
		return cl.begun
	}
	return 0
}

// written returns the time that an update uses. PostgreSQL evaluates it before the command waits for the row lock, and
// again only if the row has changed meanwhile.
func (m *sqlModel) written(cl *sqlClient, changed bool) int16 {
	if m.postgres && m.clock == "system" && !changed {
		return cl.stated
	}
	return m.now(cl)
}

// sees returns the token and end of a row as a client's plain read sees them.
func (s *sqlState) sees(c, i int) (token int8, until int16) {
	r, cl := &s.rows[i], &s.clients[c]
	switch {
	case r.owner == int8(c+1) && r.changed:
		return r.newToken, r.newUntil
	case cl.snapshot:
		return cl.old[i].token, cl.old[i].until
	}
	return r.token, r.until
}

// take locks a row. It returns false if another client has locked the row.
func (s *sqlState) take(c, i int) bool {
	if r := &s.rows[i]; r.owner != 0 && r.owner != int8(c+1) {
		return false
	}
	s.rows[i].owner = int8(c + 1)
	return true
}

// put changes a row that the client has locked.
func (s *sqlState) put(i int, token int8, until int16) {
	r := &s.rows[i]
	r.changed, r.newToken, r.newUntil = true, token, until
}

// current returns the token and end of a row as the transaction that locks it sees them.
func (s *sqlState) current(i int) (int8, int16) {
	if r := &s.rows[i]; r.changed {
		return r.newToken, r.newUntil
	}
	return s.rows[i].token, s.rows[i].until
}

// end ends a client's transaction by a commit or a rollback.
func (m *sqlModel) end(s *sqlState, c int, commit bool) {
	for i := range s.rows {
		r := &s.rows[i]
		if r.owner != int8(c+1) {
			continue
		}
		if r.changed && commit {
			r.token, r.until = r.newToken, r.newUntil
			if m.postgres {
				r.version++
			}
		}
		r.owner, r.changed, r.newToken, r.newUntil = 0, false, 0, m.oldest
		if r.token == 0 {
			r.until = m.oldest
		}
	}
	cl := &s.clients[c]
	cl.inTransaction, cl.aborted, cl.snapshot, cl.old, cl.begun, cl.gaps = false, false, false, [7]sqlRow{}, m.oldest, 0
}

// span returns the range of rows that contain leases or slots.
func (m *sqlModel) span() (first, last int) {
	if m.slotForm {
		return 1, m.slots
	}
	return 1, 6
}

// execute executes a client's command. waits says that the command must wait for a row lock; rows that it has already
// locked stay locked.
func (m *sqlModel) execute(s *sqlState, c int, k sqlCommand) (rows, failure int8, waits bool) {
	cl := &s.clients[c]
	if cl.aborted && k != sqlCommit && k != sqlRollback {
		return 0, sqlAborted, false
	}
	if m.repeatable && !cl.snapshot && m.looks(cl, k) {
		cl.snapshot, cl.old = true, s.rows
		for i := range cl.old {
			cl.old[i].owner, cl.old[i].changed, cl.old[i].newToken, cl.old[i].newUntil = 0, false, 0, 0
		}
	}
	first, last := m.span()
	now := m.now(cl)
	switch k {
	case sqlBegin:
		cl.inTransaction, cl.begun = true, 0
		if !m.postgres {
			cl.begun = m.oldest
		}
	case sqlCommit:
		if cl.aborted { // PostgreSQL answers the commit with ROLLBACK
			return 0, sqlSerialization, false
		}
		m.end(s, c, true)
	case sqlRollback:
		m.end(s, c, false)
	case sqlCountFirst, sqlCount:
		for i := first; i <= last; i++ {
			if token, until := s.sees(c, i); token != 0 && until >= now {
				rows++
			}
		}
	case sqlMaster:
		mode := m.locking
		if m.calls[cl.op] != "acquire" {
			mode = "wait"
		}
		switch {
		case mode == "none" || s.take(c, 0):
			return 1, sqlOK, false
		case mode == "skip-locked":
			return 0, sqlOK, false
		case mode == "nowait":
			return 0, sqlTimeout, false
		}
		return 0, sqlOK, true
	case sqlInsert:
		i := int(m.token(c, cl.op))
		for d := range s.clients {
			if d != c && s.clients[d].gaps&(1<<i) != 0 {
				return 0, sqlOK, true
			}
		}
		s.rows[i].owner = int8(c + 1)
		s.put(i, int8(i), m.now(cl)+m.lease)
	case sqlWhich:
		for i := first; i <= last; i++ {
			if token, _ := s.sees(c, i); token == m.token(c, cl.op) {
				rows, cl.found = 1, int8(i)
			}
		}
	case sqlClaim:
		return m.overwrite(s, c, int(cl.found), m.token(c, cl.op))
	case sqlFind, sqlSubclaim:
		return m.find(s, c, k == sqlSubclaim)
	case sqlPurge, sqlExtend, sqlClear:
		return m.change(s, c, k)
	}
	return rows, sqlOK, false
}

// looks reports whether a command takes the snapshot of its transaction. On MariaDB the first plain read does.
func (m *sqlModel) looks(cl *sqlClient, k sqlCommand) bool {
	if m.postgres {
		return cl.wait == 0 && k != sqlBegin && k != sqlCommit && k != sqlRollback
	}
	plain := m.locking == "none" && m.calls[cl.op] == "acquire"
	return k == sqlCountFirst || k == sqlCount || plain && (k == sqlFind || k == sqlMaster)
}

// candidate reports whether a statement of PostgreSQL considers a row. It considers the rows that matched when the
// statement, or the snapshot of its transaction, began.
func (m *sqlModel) candidate(cl *sqlClient, i int) bool {
	return !m.postgres || cl.candidates&(1<<i) != 0
}

// stale reports whether a row has changed since the snapshot of a PostgreSQL transaction that wants to lock it.
func (m *sqlModel) stale(s *sqlState, cl *sqlClient, i int) bool {
	return m.postgres && m.repeatable && cl.snapshot && cl.old[i].version != s.rows[i].version
}

// find searches for a free slot and locks its row. If claim is set, it claims the slot in the same command.
func (m *sqlModel) find(s *sqlState, c int, claim bool) (int8, int8, bool) {
	cl := &s.clients[c]
	now := m.now(cl)
	free := func(token int8, until int16) bool { return token == 0 || until < now }
	for i := 1; i <= m.slots; i++ {
		if m.locking == "none" {
			if cl.wait == 0 {
				if token, until := s.sees(c, i); !free(token, until) {
					continue
				}
				cl.found = int8(i)
			}
			if claim {
				return m.overwrite(s, c, int(cl.found), m.token(c, cl.op))
			}
			return 1, sqlOK, false
		}
		if cl.wait == 0 {
			if token, until := s.sees(c, i); free(token, until) {
				cl.candidates |= 1 << i
			} else {
				cl.candidates &^= 1 << i
			}
		}
	}
	if m.locking == "none" {
		return 0, sqlOK, false
	}
	for i := 1; i <= m.slots; i++ {
		if !m.candidate(cl, i) {
			continue
		}
		was := s.rows[i].owner
		switch {
		case s.take(c, i):
		case m.locking == "skip-locked":
			continue
		case m.locking == "nowait":
			return 0, sqlTimeout, false
		default:
			cl.at = int8(i)
			return 0, sqlOK, true
		}
		if m.stale(s, cl, i) {
			return 0, sqlSerialization, false
		}
		if free(s.current(i)) {
			cl.found = int8(i)
			if claim {
				s.put(i, m.token(c, cl.op), m.now(cl)+m.lease)
			}
			return 1, sqlOK, false
		}
		m.unlock(s, cl, i, was)
	}
	return 0, sqlOK, false
}

// unlock unlocks a row that a statement does not need, as MariaDB does at READ COMMITTED. A row for which the statement
// has waited stays locked.
func (m *sqlModel) unlock(s *sqlState, cl *sqlClient, i int, was int8) {
	if !m.postgres && !m.repeatable && (cl.wait == 0 || int(cl.at) != i) {
		s.rows[i].owner = was
	}
}

// overwrite writes a token into a slot, even if the slot is no longer free.
func (m *sqlModel) overwrite(s *sqlState, c, i int, token int8) (int8, int8, bool) {
	cl := &s.clients[c]
	if cl.wait == 0 {
		cl.candidates = s.rows[i].version
	}
	if !s.take(c, i) {
		return 0, sqlOK, true
	}
	if m.stale(s, cl, i) {
		return 0, sqlSerialization, false
	}
	s.put(i, token, m.written(cl, s.rows[i].version != cl.candidates)+m.lease)
	return 1, sqlOK, false
}

// around returns the gap between two leases into which the token i, which has no lease yet, falls. The gap is a bit set
// of tokens.
func (s *sqlState) around(i int) (gap uint8) {
	none := func(k int) bool { return s.rows[k].token == 0 && s.rows[k].owner == 0 }
	for k := i; k > 0 && none(k); k-- {
		gap |= 1 << k
	}
	for k := i; k < len(s.rows) && none(k); k++ {
		gap |= 1 << k
	}
	return gap
}

// deadlock returns the victim if client c, which begins to wait, causes a deadlock of two clients on MariaDB. Otherwise
// any is false. MariaDB chooses the client that has locked and changed fewer rows. If both have as many, it chooses c.
func (m *sqlModel) deadlock(s *sqlState, c int) (victim int, any bool) {
	d := 1 - c
	if m.postgres || m.clients != 2 || s.clients[d].wait != 1 {
		return 0, false
	}
	weight := func(c int) (n int) {
		for i := range s.rows {
			if r := &s.rows[i]; r.owner == int8(c+1) && (i == 0 || r.changed) {
				n++
			}
		}
		return n
	}
	if weight(d) < weight(c) {
		return d, true
	}
	return c, true
}

// own returns the row of a client's lease.
func (m *sqlModel) own(cl *sqlClient, token int8) int {
	if m.slotForm {
		return int(cl.slot)
	}
	return int(token)
}

// change deletes expired leases, or extends or deletes the client's own lease.
func (m *sqlModel) change(s *sqlState, c int, k sqlCommand) (rows, failure int8, waits bool) {
	cl := &s.clients[c]
	now, token := m.now(cl), m.token(c, cl.op)
	applies := func(i int, has int8, until int16) bool {
		switch {
		case k == sqlPurge:
			return has != 0 && until < now
		case k == sqlClear && m.anyRelease && m.slotForm:
			return i == int(cl.slot)
		case has != token || m.slotForm && i != int(cl.slot):
			return false
		}
		return k == sqlClear || m.owned || until >= now
	}
	first, last := m.span()
	for i := first; i <= last; i++ {
		r := &s.rows[i]
		if cl.wait == 0 {
			cl.candidates &^= 1 << i
			has, until := s.sees(c, i)
			if !m.postgres {
				has, until = r.token, r.until
			}
			if applies(i, has, until) {
				cl.candidates |= 1 << i
			}
		}
	}
	before := uint8(0) // the gap before the current row, which is locked together with it
	for i := first; i <= last; i++ {
		r := &s.rows[i]
		switch {
		case m.postgres && !m.candidate(cl, i):
			continue
		case !m.postgres && k != sqlPurge && i != m.own(cl, token):
			continue // MariaDB finds the lease by its key, and reads no other row
		case !m.postgres && r.token == 0 && r.owner == 0: // the row does not exist
			switch {
			case !m.repeatable || m.slotForm:
			case k == sqlPurge:
				before |= 1 << i
			default:
				cl.gaps |= s.around(i)
			}
			continue
		}
		was := r.owner
		if !s.take(c, i) {
			cl.at = int8(i)
			return 0, sqlOK, true
		}
		if m.stale(s, cl, i) {
			return 0, sqlSerialization, false
		}
		cl.gaps, before = cl.gaps|before, 0
		has, until := s.current(i)
		switch {
		case !applies(i, has, until):
			m.unlock(s, cl, i, was)
			continue
		case k == sqlExtend:
			s.put(i, has, m.now(cl)+m.lease)
		default:
			s.put(i, 0, m.oldest)
		}
		rows++
	}
	cl.gaps |= before
	return rows, sqlOK, false
}
