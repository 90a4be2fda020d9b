package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// Store is a simulated database server. Call [Store.Reset] before its first use.
type Store struct {
	// Now is the time of the server's clock, in milliseconds.
	Now int64
	// Keep makes a MariaDB store keep deleted rows, as InnoDB does while a session has an old snapshot. Comparisons
	// with a real server set it, since they cannot know when the real server purges.
	Keep bool
	// Choose makes the choices that a real server leaves to chance: which of several sessions comes next, and when a
	// session continues after its wait. It returns a number from 0 to among-1. nil always chooses 0, the first.
	Choose   func(among int) int
	dialect  sql.Dialect
	rows     []row   // in the order of their keys
	locks    []claim // in the order of their keys; those of one row in the order of arrival
	sessions []session
	ready    []uint8 // sessions whose wait is over and whose statement has yet to continue, in this order
	closing  []uint8 // sessions that have undone their changes and have yet to release their locks
	// Published is the number of row changes committed so far.
	Published int
}

// key is the primary key of a row.
type key struct {
	table     sql.Table
	lock, num uint8
}

// last is a key greater than all keys of a table (InnoDB's supremum). The gap before it is the gap behind the last row.
func last(t sql.Table) key { return key{t, 255, 255} }

func (k key) compare(o key) int {
	return (int(k.table)-int(o.table))<<16 + (int(k.lock)-int(o.lock))<<8 + int(k.num) - int(o.num)
}

// version is the content of a row at one time. live says that the row exists.
type version struct {
	live  bool
	token uint8 // 0 is NULL; then until is NULL as well
	until int64
}

// row has a row's committed version, and its current version (now), which differs if a change is uncommitted.
type row struct {
	key
	now, committed version
	writer         uint8 // session with the uncommitted change; 0 if there is none, and both versions are equal
	reborn         bool  // the writer deleted the row and inserted a new one with the same key
	deleted        bool  // the deletion is committed, but the row is not purged yet
}

// claim is a session's lock on a row or gap. waits says that the lock is not granted yet.
type claim struct {
	key
	session uint8
	kind    kind
	shared  bool
	waits   bool
	place   uint8 // index among the locks on the same row; only while a state is read
}

// Reset makes the store a server of dialect d without rows and sessions.
func (s *Store) Reset(d sql.Dialect) {
	*s = Store{dialect: d, Keep: s.Keep, Choose: s.Choose, rows: s.rows[:0], locks: s.locks[:0], sessions: s.sessions[:0], ready: s.ready[:0], closing: s.closing[:0]}
}

// Seed inserts a row that is already committed.
func (s *Store) Seed(t sql.Table, lock, num, token uint8, until int64) {
	k := key{t, lock, num}
	v := version{true, token, until}
	*s.insert(k) = row{key: k, now: v, committed: v}
}

// find returns the index of a key in rows, or the index at which to insert it, and whether the key is there.
func (s *Store) find(k key) (int, bool) {
	return slices.BinarySearchFunc(s.rows, k, func(r row, k key) int { return r.compare(k) })
}

func (s *Store) row(k key) *row {
	if i, ok := s.find(k); ok {
		return &s.rows[i]
	}
	return nil
}

// insert returns the row with key k, and adds it if necessary. An added row is live in neither version yet.
func (s *Store) insert(k key) *row {
	i, ok := s.find(k)
	if !ok {
		s.rows = slices.Insert(s.rows, i, row{key: k})
	}
	return &s.rows[i]
}

// from returns the first key of a row of k's table that is not less than k. If no such row exists, it returns the key
// last.
func (s *Store) from(k key) key {
	if i, _ := s.find(k); i < len(s.rows) && s.rows[i].table == k.table {
		return s.rows[i].key
	}
	return last(k.table)
}

// after returns the first key of a row of k's table that is greater than k. If no such row exists, it returns the key
// last.
func (s *Store) after(k key) key {
	if k.num++; k.num == 0 {
		k.lock++
	}
	return s.from(k)
}

// write sets the row with key k to version v, as an uncommitted change of session on.
func (s *Store) write(on uint8, k key, v version) {
	r, t := s.row(k), &s.sessions[on-1]
	if r.writer == 0 {
		r.writer = on
	}
	r.reborn = r.reborn || s.dialect == sql.Postgres && v.live && !r.now.live && r.committed.live
	if t.stmt.running {
		t.stmt.undo = append(t.stmt.undo, change{k, r.now})
	}
	t.undo++
	r.now = v
}

// Row returns the committed state of a row: its token, the end of its lease (until), and whether the row exists (ok).
func (s *Store) Row(t sql.Table, lock, num uint8) (token uint8, until int64, ok bool) {
	if r := s.row(key{t, lock, num}); r != nil {
		return r.committed.token, r.committed.until, r.committed.live
	}
	return 0, 0, false
}

// Rows calls f with the committed version of each row of a lock in table t, in the order of num.
func (s *Store) Rows(t sql.Table, lock uint8, f func(num, token uint8, until int64)) {
	for i := range s.rows {
		if r := &s.rows[i]; r.table == t && r.lock == lock && r.committed.live {
			f(r.num, r.committed.token, r.committed.until)
		}
	}
}

// Held is like [Store.Rows]. extended says that an open transaction has set a later end for the row's lease.
func (s *Store) Held(t sql.Table, lock uint8, f func(num, token uint8, until int64, extended bool)) {
	for i := range s.rows {
		r := &s.rows[i]
		if r.table != t || r.lock != lock || !r.committed.live {
			continue
		}
		v := r.committed
		f(r.num, v.token, v.until, v.token != 0 && r.now.live && r.now.token == v.token && r.now.until > v.until)
	}
}

// Claimed calls f with each row of a lock that a client gets if an open transaction commits. until is the end of the
// lease in that transaction.
func (s *Store) Claimed(t sql.Table, lock uint8, f func(num uint8, until int64)) {
	for i := range s.rows {
		if r := &s.rows[i]; r.table == t && r.lock == lock && r.writer != 0 && r.now.live && r.now.token != 0 && r.now.token != r.committed.token {
			f(r.num, r.now.until)
		}
	}
}

// Moments calls f with each time at which a lease may end. These include the leases in committed rows and in
// uncommitted ones. They also include leases that an open transaction or a waiting statement may still write, if clock
// is the time at which the transaction or the statement began. The argument lease is the length of leases.
func (s *Store) Moments(lease int64, clock sql.Clock, f func(at int64)) {
	for i := range s.rows {
		for _, v := range [...]version{s.rows[i].committed, s.rows[i].now} {
			if v.live && v.token != 0 {
				f(v.until)
			}
		}
	}
	for i := range s.sessions {
		t := &s.sessions[i]
		if t.open && clock == sql.TransactionTime {
			f(t.began + lease)
		}
		if t.stmt.running && clock == sql.StatementTime {
			f(t.stmt.began + lease)
		}
	}
}

// Uses reports whether any row has the token, or may get it from a waiting statement.
func (s *Store) Uses(token uint8) bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return r.now.token == token || r.committed.token == token }) ||
		slices.ContainsFunc(s.sessions, func(t session) bool { return t.stmt.running && t.stmt.command.Token == token })
}

// Apply executes command c on session on, and returns the reply. The session must not be waiting.
func (s *Store) Apply(on uint8, c *sql.Command) sql.Reply {
	t := &s.sessions[on-1]
	if !t.alive || t.left {
		return sql.Reply{Code: sql.Gone}
	}
	if t.failed && c.Verb != sql.Rollback && c.Verb != sql.Commit {
		t.reply = sql.Reply{Code: sql.InFailed}
		return t.reply
	}
	t.reply = sql.Reply{}
	switch c.Verb {
	case sql.Begin:
		s.commit(on)
		t.open, t.began = true, s.Now
	case sql.Commit:
		t.reply.RolledBack = t.failed
		if t.failed {
			s.rollBack(on)
		} else {
			s.commit(on)
		}
	case sql.Rollback:
		s.rollBack(on)
	default:
		if !t.open {
			t.began = s.Now
		}
		t.stmt = statement{running: true, command: *c, began: s.Now, undo: t.stmt.undo[:0], seen: t.stmt.seen[:0]}
		s.run(on)
	}
	s.settle()
	return s.Answer(on)
}

// run continues a session's statement until it ends or waits.
func (s *Store) run(on uint8) {
	var code sql.Code
	if s.dialect == sql.MariaDB {
		code = s.innodb(on)
	} else {
		code = s.postgres(on)
	}
	t := &s.sessions[on-1]
	if t.reply.Code = code; code == sql.Blocked {
		return
	}
	if code != sql.OK {
		t.reply = sql.Reply{Code: code}
		s.fail(on, code)
	}
	t.stmt = statement{undo: t.stmt.undo[:0], seen: t.stmt.seen[:0]}
	if !t.open && !slices.Contains(s.closing, on) {
		s.commit(on)
	}
	if t.left {
		s.end(on)
	}
}

// settle continues the sessions whose waits are over, and releases the locks of sessions that are closing, until none
// is left.
func (s *Store) settle() {
	for {
		s.resolve()
		i := 0
		if n := len(s.ready) + len(s.closing); n == 0 {
			return
		} else if i = s.choose(n); i >= len(s.ready) {
			on := s.closing[i-len(s.ready)]
			s.closing = slices.DeleteFunc(s.closing, func(c uint8) bool { return c == on })
			s.close(on)
			continue
		}
		on := s.ready[i]
		s.ready = slices.Delete(s.ready, i, i+1)
		yields := s.dialect == sql.Postgres && s.Choose != nil
		if yields {
			s.yield(s.ready)
		}
		if t := &s.sessions[on-1]; t.alive && t.stmt.running {
			s.run(on)
		}
		if yields {
			s.grant()
		}
	}
}

// choose returns a number from 0 to among-1, by [Store.Choose].
func (s *Store) choose(among int) int {
	if s.Choose == nil {
		return 0
	}
	return s.Choose(among)
}

// Clone returns an independent copy of the store.
func (s *Store) Clone() *Store {
	c := new(Store)
	c.CopyFrom(s)
	return c
}

// CopyFrom makes the store an independent copy of o. It reuses the memory that the store already has.
func (s *Store) CopyFrom(o *Store) {
	was := *s
	*s = *o
	s.rows, s.locks = append(was.rows[:0], o.rows...), append(was.locks[:0], o.locks...)
	s.ready, s.closing = append(was.ready[:0], o.ready...), append(was.closing[:0], o.closing...)
	s.sessions = slices.Grow(was.sessions[:0], len(o.sessions))[:len(o.sessions)]
	for i := range s.sessions {
		s.sessions[i].copyFrom(&o.sessions[i])
	}
}

func (t *session) copyFrom(o *session) {
	snapshot, seen, undo := t.snapshot[:0], t.stmt.seen[:0], t.stmt.undo[:0]
	*t = *o
	t.snapshot, t.stmt.seen, t.stmt.undo = append(snapshot, o.snapshot...), append(seen, o.stmt.seen...), append(undo, o.stmt.undo...)
}
