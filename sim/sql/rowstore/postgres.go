package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// postgres continues a session's statement as PostgreSQL does.
func (s *Store) postgres(on uint8) sql.Code {
	t := &s.sessions[on-1]
	c := &t.stmt.command
	if !t.stmt.resumed {
		s.snapshot(on)
	}
	switch {
	case c.Verb == sql.Insert:
		return s.postgresInsert(on, c)
	case c.Verb == sql.Claim && !t.stmt.has:
		return s.postgresClaim(on, c)
	}
	return s.postgresScan(on, c)
}

// snapshot takes the snapshot of a session's statement: the rows that were committed when the statement began. Above
// READ COMMITTED, it is those committed when the transaction's first statement began.
func (s *Store) snapshot(on uint8) {
	t := &s.sessions[on-1]
	if t.level == sql.ReadCommitted {
		t.stmt.seen = s.look(t.stmt.seen[:0], t.stmt.command.Table)
		return
	}
	if !t.looked {
		t.snapshot, t.looked = s.look(t.snapshot[:0], sql.Tables), true
	}
}

// visible returns the rows in the snapshot of a session's statement.
func (t *session) visible() []seen {
	if t.level == sql.ReadCommitted {
		return t.stmt.seen
	}
	return t.snapshot
}

// candidate is a row that a scan has found: as in the snapshot or, if own is set, as changed by the transaction itself.
type candidate struct {
	seen
	own bool
}

// next returns the next row of a scan: the first whose key is not less than from. ok is false if there is none. On
// PostgreSQL, two rows can have the same key: one that another session has deleted since the snapshot, and one that the
// transaction itself has inserted. past says that the first of these has been scanned.
func (s *Store) next(on uint8, c *sql.Command, from key, past bool) (found candidate, ok bool) {
	for _, e := range s.sessions[on-1].visible() {
		if e.table == c.Table && e.lock == c.Lock && e.compare(from) >= 0 && (!ok || e.compare(found.key) < 0) {
			if r := s.row(e.key); past && e.key == from || r != nil && r.writer == on && (!e.gone || s.dialect == sql.MariaDB) {
				continue
			}
			found, ok = candidate{e, false}, true
		}
	}
	for i := range s.rows {
		r := &s.rows[i]
		if r.writer == on && r.now.live && r.table == c.Table && r.lock == c.Lock && r.compare(from) >= 0 && (!ok || r.compare(found.key) < 0) {
			return candidate{seen{key: r.key, version: r.now}, true}, true
		}
	}
	return found, ok
}

// postgresScan scans the rows of the snapshot, and locks, changes or counts those that satisfy the condition.
func (s *Store) postgresScan(on uint8, c *sql.Command) sql.Code {
	t := &s.sessions[on-1]
	if !t.stmt.resumed {
		t.stmt.at = key{c.Table, c.Lock, 0}
	}
	for {
		e, ok := s.next(on, c, t.stmt.at, t.stmt.past)
		if !ok {
			return sql.OK
		}
		if !t.stmt.waited {
			t.stmt.read = s.now(on, c)
		}
		t.stmt.at, t.stmt.resumed, t.stmt.past = e.key, true, t.stmt.past && e.own
		if !t.stmt.waited && !s.matches(on, c, e.num, e.version) {
			s.pass(t, e)
			continue
		}
		code, took := s.postgresRow(on, c, e)
		if code == skipped {
			code = sql.OK
		}
		if t.stmt.waited = code == sql.Blocked; code != sql.OK || took && c.First {
			return code
		}
		s.pass(t, e)
	}
}

// pass advances a statement's scan beyond row e.
func (s *Store) pass(t *session, e candidate) {
	if t.stmt.past = !e.own && e.gone; !t.stmt.past {
		t.stmt.at = successor(e.key)
	}
}

// successor returns the least key greater than k.
func successor(k key) key {
	k.num++
	return k
}

// matches reports whether a row satisfies the command's condition, at the time that was read for the row. A claim
// changes the row that its subselect has found, and does not check the subselect's condition again.
func (s *Store) matches(on uint8, c *sql.Command, num uint8, v version) bool {
	t := &s.sessions[on-1]
	if c.Verb == sql.Claim {
		return num == t.stmt.found
	}
	return v.live && holds(c, num, v, t.stmt.read)
}

// postgresRow executes the command on a row that the scan has found. It reports whether the command read or changed the
// row.
func (s *Store) postgresRow(on uint8, c *sql.Command, e candidate) (sql.Code, bool) {
	t := &s.sessions[on-1]
	if c.Verb == sql.Count || c.Verb == sql.Select && c.Read == sql.Plain {
		t.tell(e.num)
		return sql.OK, true
	}
	v, code := s.postgresLock(on, c, e)
	if code != sql.OK {
		return code, false
	}
	if !v.live {
		return sql.OK, false
	}
	t.tell(e.num)
	if c.Writes() {
		s.write(on, e.key, changed(c, v, t.stmt.read))
	}
	return sql.OK, true
}

// postgresLock locks a row that the scan has found, and returns the row's current version. If the row does not match
// the command any more, the version is not live.
func (s *Store) postgresLock(on uint8, c *sql.Command, e candidate) (version, sql.Code) {
	t := &s.sessions[on-1]
	if e.own {
		return e.version, sql.OK
	}
	if e.changed && t.level != sql.ReadCommitted {
		return version{}, sql.Conflict // even if another session has locked it since
	}
	if e.gone {
		s.release(on, e.key) // releases the lock that the statement waited for, if any
		return version{}, sql.OK
	}
	if code, _ := s.lock(claim{key: e.key, session: on, kind: onlyRow}); code != sql.OK {
		read := c.Read
		if c.Verb == sql.Update || c.Verb == sql.Delete || c.Verb == sql.Claim && t.stmt.has {
			read = sql.ForUpdate
		}
		switch read {
		case sql.SkipLocked:
			s.unwait(on)
			return version{}, skipped
		case sql.NoWait:
			return version{}, sql.LockTimeout
		}
		if code = s.wait(on); code != sql.OK {
			return version{}, code
		}
	}
	if !e.changed {
		return e.version, sql.OK
	}
	t.stmt.read = s.now(on, c) // the condition is checked again on the current version (EvalPlanQual)
	v := s.row(e.key).committed
	if !s.matches(on, c, e.num, v) {
		return version{}, sql.OK
	}
	return v, sql.OK
}

// postgresClaim executes a claim, which is an update with a subselect. The subselect finds the first matching row, and
// may lock it. The update then changes this row.
func (s *Store) postgresClaim(on uint8, c *sql.Command) sql.Code {
	t := &s.sessions[on-1]
	inner := *c
	inner.Verb, inner.First = sql.Select, true
	count := t.reply.Count
	code := s.postgresScan(on, &inner)
	if code != sql.OK {
		return code
	}
	if t.reply.Count == count {
		return sql.OK // the subselect found no row
	}
	t.reply.Count = count
	t.stmt.found, t.stmt.has = t.stmt.at.num, true
	t.stmt.at, t.stmt.past = key{c.Table, c.Lock, 0}, false
	return s.postgresScan(on, c)
}

// postgresInsert inserts a row. If another transaction has an uncommitted change of a row with the same key, the insert
// waits for the end of that transaction.
func (s *Store) postgresInsert(on uint8, c *sql.Command) sql.Code {
	t := &s.sessions[on-1]
	if c.OutOfRange() {
		return sql.OutOfRange
	}
	if !t.stmt.resumed {
		t.stmt.read, t.stmt.resumed = s.now(on, c), true // the values in VALUES are computed first
	}
	k := key{c.Table, c.Lock, c.Num}
	if r := s.row(k); r != nil {
		if r.writer != 0 && r.writer != on {
			s.put(claim{key: k, session: on, kind: insertion, waits: true})
			if code := s.wait(on); code != sql.OK {
				return code
			}
			return s.postgresInsert(on, c) // another transaction was the deadlock's victim
		}
		if r.now.live {
			return s.duplicate(on, c, r)
		}
	}
	s.insert(k)
	s.put(claim{key: k, session: on, kind: onlyRow})
	s.write(on, k, inserted(c, t.stmt.read))
	t.tell(k.num)
	return sql.OK
}

// duplicate returns the result of an insert whose key already exists.
func (s *Store) duplicate(on uint8, c *sql.Command, r *row) sql.Code {
	t := &s.sessions[on-1]
	if !c.Ignore {
		return sql.Duplicate
	}
	if t.level != sql.ReadCommitted && r.writer != on && !slices.ContainsFunc(t.snapshot, func(e seen) bool { return e.key == r.key && !e.changed }) {
		return sql.Conflict
	}
	return sql.OK
}
