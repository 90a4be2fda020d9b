package rowstore

import "github.com/lockproof/lockproof/model/sql"

// innodb continues a session's statement as MariaDB's InnoDB does.
func (s *Store) innodb(on uint8) sql.Code {
	t := &s.sessions[on-1]
	c := &t.stmt.command
	switch {
	case c.Verb == sql.Insert:
		return s.innodbInsert(on, c)
	case (c.Verb == sql.Count || c.Verb == sql.Select && c.Read == sql.Plain) && (t.level != sql.Serializable || !t.open):
		s.innodbRead(on, c)
		return sql.OK
	}
	return s.innodbScan(on, c)
}

// innodbRead reads rows without locking them (a consistent read). At READ COMMITTED these are the rows committed now;
// otherwise those committed at the transaction's first such read.
func (s *Store) innodbRead(on uint8, c *sql.Command) {
	s.snapshot(on)
	for at := (key{c.Table, c.Lock, 0}); ; {
		e, ok := s.next(on, c, at, false)
		if !ok {
			return
		}
		at = successor(e.key)
		if !holds(c, e.num, e.version, s.now(on, c)) {
			continue
		}
		if s.sessions[on-1].tell(e.num); c.First {
			return
		}
	}
}

// innodbScan executes a locking read, an update or a delete. It locks each row that it scans, in the order of the
// primary key.
func (s *Store) innodbScan(on uint8, c *sql.Command) sql.Code {
	t := &s.sessions[on-1]
	if !t.stmt.resumed {
		s.intend(on, c.Table, s.shares(c))
		t.stmt.at = s.from(key{c.Table, c.Lock, 0})
		if c.Rows == sql.One {
			t.stmt.at = s.from(key{c.Table, c.Lock, c.Num})
		}
	} else {
		// The statement's row may have been removed while it waited.
		at := s.from(t.stmt.at)
		t.stmt.at, t.stmt.waited = at, t.stmt.waited && at == t.stmt.at
	}
	t.stmt.resumed = true
	for {
		k := t.stmt.at
		if k.num == 255 || c.Rows != sql.Below && k.lock != c.Lock || c.Rows == sql.One && k.num != c.Num {
			return s.innodbEnd(on, c, k)
		}
		code, more := s.innodbRow(on, c, k)
		if code != sql.OK || !more {
			return code
		}
		t.stmt.at = s.after(k)
	}
}

// innodbEnd locks the gap at the end of a scan, where other sessions could otherwise insert rows. At READ COMMITTED it
// locks nothing.
func (s *Store) innodbEnd(on uint8, c *sql.Command, k key) sql.Code {
	if s.sessions[on-1].level == sql.ReadCommitted {
		return sql.OK
	}
	code, _ := s.innodbLock(c, claim{key: k, session: on, kind: gap, shared: s.shares(c)})
	return code
}

// shares reports whether a command takes shared locks, as plain reads at SERIALIZABLE do.
func (s *Store) shares(c *sql.Command) bool {
	return c.Verb == sql.Count || c.Verb == sql.Select && c.Read == sql.Plain
}

// skipped is the result for a locked row that SKIP LOCKED skips.
const skipped = sql.Codes

// innodbLock requests a lock. If another session has the row, the command says whether to wait, skip the row or fail.
// The second result says whether to release the lock if the row does not match. A lock that the session had to wait for
// is kept.
func (s *Store) innodbLock(c *sql.Command, want claim) (sql.Code, bool) {
	code, fresh := s.lock(want)
	if code == sql.OK {
		return code, fresh && !s.sessions[want.session-1].stmt.waited
	}
	switch {
	case c.Verb == sql.Select && c.Read == sql.SkipLocked:
		s.unwait(want.session)
		return skipped, false
	case c.Verb == sql.Select && c.Read == sql.NoWait:
		return sql.LockTimeout, false
	}
	s.sessions[want.session-1].stmt.waited = true
	return s.wait(want.session), false
}

// innodbRow handles the row with key k in a scan. It locks the row, and reads or changes the row if it matches the
// command. more reports whether the scan continues. The scan of a range ends at the first existing row outside the
// range, which is locked, too.
func (s *Store) innodbRow(on uint8, c *sql.Command, k key) (code sql.Code, more bool) {
	t := &s.sessions[on-1]
	weak := t.level == sql.ReadCommitted
	want := claim{key: k, session: on, kind: nextKey, shared: s.shares(c)}
	if weak || c.Rows == sql.One {
		want.kind = onlyRow
	}
	outside := k.lock != c.Lock || c.Rows == sql.Below && k.num >= c.Num
	if r := s.row(k); weak && r != nil && r.deleted && r.writer == 0 {
		t.stmt.waited = false
		return sql.OK, c.Rows != sql.One // the scan skips a deleted row, locked or not
	}
	if weak && c.Verb == sql.Update && c.Rows != sql.One && !t.stmt.waited && s.semiConsistent(on, c, want) {
		return sql.OK, !outside || !s.row(k).committed.live
	}
	code, fresh := s.innodbLock(c, want)
	if code == skipped {
		return sql.OK, true
	}
	if code != sql.OK {
		return code, false
	}
	t.stmt.waited = false
	r := s.row(k)
	if r == nil {
		return sql.OK, true // the row was removed when a deadlock's victim was rolled back
	}
	if now := s.now(on, c); r.now.live && !outside && holds(c, k.num, r.now, now) {
		if t.tell(k.num); c.Writes() {
			if v := changed(c, r.now, now); v != r.now {
				s.write(on, k, v)
			}
		}
		return sql.OK, !c.First && c.Rows != sql.One
	}
	// A SELECT by the whole key reads the row before it checks the condition, and keeps the lock if the row does not
	// match.
	if weak && fresh && (c.Verb != sql.Select || c.Rows != sql.One || !r.now.live) {
		s.release(on, k)
	}
	return sql.OK, c.Rows != sql.One && (!outside || !r.now.live)
}

// semiConsistent reports whether an update at READ COMMITTED skips a locked row, since the row's committed version does
// not match the condition.
func (s *Store) semiConsistent(on uint8, c *sql.Command, want claim) bool {
	s.explicit(want.key, on)
	locked := false
	for i := range s.locks {
		if covers(&s.locks[i], &want) {
			return false
		}
		locked = locked || bars(&s.locks[i], &want)
	}
	r := s.row(want.key)
	return locked && (!r.committed.live || r.lock != c.Lock || !holds(c, r.num, r.committed, s.now(on, c)))
}

// innodbInsert inserts a row. If a row with the same key exists, the insert takes a shared lock on it, and keeps the
// lock.
func (s *Store) innodbInsert(on uint8, c *sql.Command) sql.Code {
	t, k := &s.sessions[on-1], key{c.Table, c.Lock, c.Num}
	if c.OutOfRange() {
		return sql.OutOfRange
	}
	if !t.stmt.resumed {
		s.intend(on, c.Table, false)
		t.stmt.read, t.stmt.resumed = s.now(on, c), true // the values in VALUES are computed first
	}
	if r := s.row(k); r != nil {
		if code, _ := s.innodbLock(c, claim{key: k, session: on, kind: onlyRow, shared: true}); code != sql.OK {
			return code
		}
		if r = s.row(k); r == nil {
			return s.innodbInsert(on, c) // the row was removed when the other transaction was rolled back
		}
		if r.now.live {
			if c.Ignore {
				return sql.OK
			}
			return sql.Duplicate
		}
		if code, _ := s.innodbLock(c, claim{key: k, session: on, kind: onlyRow}); code != sql.OK {
			return code
		}
	} else {
		next := s.after(k)
		want := claim{key: next, session: on, kind: insertion}
		for i := range s.locks {
			if bars(&s.locks[i], &want) {
				s.unput(on)
				want.waits = true
				s.put(want)
				if code := s.wait(on); code != sql.OK {
					return code
				}
				return s.innodbInsert(on, c)
			}
		}
		s.insert(k)
		s.inherit(next, k, true)
	}
	s.write(on, k, inserted(c, t.stmt.read))
	t.tell(k.num)
	return sql.OK
}

// unput removes the insertion lock that an insert got before another lock on the gap made it wait again.
func (s *Store) unput(on uint8) {
	for i := range s.locks {
		if s.locks[i].session == on && s.locks[i].kind == insertion {
			s.locks = append(s.locks[:i], s.locks[i+1:]...)
			return
		}
	}
}
