package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// Store is a server. The zero value is none: see [Store.Reset].
type Store struct {
	// Now is the server's clock.
	Now int64
	// Keep keeps deleted rows, as InnoDB does while a session has an old snapshot. It is for comparisons, since the
	// moment of a purge is not known.
	Keep bool
	// Choose makes choices that are chance on a real server: which of several sessions comes next, and when a session
	// continues after its wait. nil chooses 0, the first.
	Choose   func(among int) int
	dialect  sql.Dialect
	rows     []row   // in the order of their keys
	locks    []claim // in the order of their keys; those of one row in the order in which they came
	sessions []session
	ready    []uint8 // sessions whose wait is over, in that order
	closing  []uint8 // sessions that have undone their changes, and have their locks still
	// Published is how many changes have been committed.
	Published int
}

// key is a row's primary key.
type key struct {
	table     sql.Table
	lock, num uint8
}

// last is the key behind a table's rows: InnoDB's supremum, whose gap is the one behind the last row.
func last(t sql.Table) key { return key{t, 255, 255} }

func (k key) compare(o key) int {
	return (int(k.table)-int(o.table))<<16 + (int(k.lock)-int(o.lock))<<8 + int(k.num) - int(o.num)
}

// version is what a row is at one time.
type version struct {
	live  bool
	token uint8 // 0 is null, and so is until then
	until int64
}

// row is a row, with its uncommitted change if there is one.
type row struct {
	key
	now, committed version
	writer         uint8 // the session that made the change; 0 is none, and both versions are equal
	reborn         bool  // the writer deleted it and inserted another
	deleted        bool  // its deletion is committed, and it is still there
}

// claim is a lock on a row, or one that is waited for.
type claim struct {
	key
	session uint8
	kind    kind
	shared  bool
	waits   bool
	place   uint8 // among those on the same row, where a state is read
}

// Reset makes it a server without rows and sessions.
func (s *Store) Reset(d sql.Dialect) {
	*s = Store{dialect: d, Keep: s.Keep, Choose: s.Choose, rows: s.rows[:0], locks: s.locks[:0], sessions: s.sessions[:0], ready: s.ready[:0], closing: s.closing[:0]}
}

// Seed puts a row there that is committed.
func (s *Store) Seed(t sql.Table, lock, num, token uint8, until int64) {
	k := key{t, lock, num}
	v := version{true, token, until}
	*s.insert(k) = row{key: k, now: v, committed: v}
}

// find is where a key is, or would be.
func (s *Store) find(k key) (int, bool) {
	return slices.BinarySearchFunc(s.rows, k, func(r row, k key) int { return r.compare(k) })
}

func (s *Store) row(k key) *row {
	if i, ok := s.find(k); ok {
		return &s.rows[i]
	}
	return nil
}

// insert makes a row that no session sees yet.
func (s *Store) insert(k key) *row {
	i, ok := s.find(k)
	if !ok {
		s.rows = slices.Insert(s.rows, i, row{key: k})
	}
	return &s.rows[i]
}

// from is the first key of a table at or behind k.
func (s *Store) from(k key) key {
	if i, _ := s.find(k); i < len(s.rows) && s.rows[i].table == k.table {
		return s.rows[i].key
	}
	return last(k.table)
}

// after is the first key of a table behind k.
func (s *Store) after(k key) key {
	if k.num++; k.num == 0 {
		k.lock++
	}
	return s.from(k)
}

// write changes a row, in the transaction of a session.
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

// Row is the committed state of a row: its owner's token, its end, and whether it exists.
func (s *Store) Row(t sql.Table, lock, num uint8) (token uint8, until int64, ok bool) {
	if r := s.row(key{t, lock, num}); r != nil {
		return r.committed.token, r.committed.until, r.committed.live
	}
	return 0, 0, false
}

// Rows calls f with what is committed of each row of a lock in a table, in the order of num.
func (s *Store) Rows(t sql.Table, lock uint8, f func(num, token uint8, until int64)) {
	for i := range s.rows {
		if r := &s.rows[i]; r.table == t && r.lock == lock && r.committed.live {
			f(r.num, r.committed.token, r.committed.until)
		}
	}
}

// Held is Rows, with whether a transaction that has not ended is putting off a row's end.
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

// Claimed calls f with the rows of a lock that an open transaction is giving to a client, and with their future ends.
func (s *Store) Claimed(t sql.Table, lock uint8, f func(num uint8, until int64)) {
	for i := range s.rows {
		if r := &s.rows[i]; r.table == t && r.lock == lock && r.writer != 0 && r.now.live && r.now.token != 0 && r.now.token != r.committed.token {
			f(r.num, r.now.until)
		}
	}
}

// Moments calls f with each possible end of a lease. Leases are those of the committed rows, of the rows in open
// transactions, and of rows that a running statement would write by a clock that it has read. The argument lease is the
// length of leases.
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

// Uses reports whether a row has a token, or a statement that waits may give it to one.
func (s *Store) Uses(token uint8) bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return r.now.token == token || r.committed.token == token }) ||
		slices.ContainsFunc(s.sessions, func(t session) bool { return t.stmt.running && t.stmt.command.Token == token })
}

// Apply has a command reach the server, on a session that does not wait.
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

// run goes on with a session's statement until it is over or waits.
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

// settle goes on with those whose wait is over.
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

// choose is the index of the next of several.
func (s *Store) choose(among int) int {
	if s.Choose == nil {
		return 0
	}
	return s.Choose(among)
}

// Clone is a store that goes on by itself from where this one is.
func (s *Store) Clone() *Store {
	c := new(Store)
	c.CopyFrom(s)
	return c
}

// CopyFrom makes it what another store is, in the memory that it has. Each goes on by itself.
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
