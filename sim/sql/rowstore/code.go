package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/sql"
)

// Clear removes all rows and sessions, before a state is read.
func (s *Store) Clear() {
	s.rows, s.locks, s.sessions, s.ready, s.closing = s.rows[:0], s.locks[:0], s.sessions[:0], s.ready[:0], s.closing[:0]
	s.Now = 0
}

// CodeShared writes or reads the committed rows. Times are written relative to the server's clock.
func (s *Store) CodeShared(c *codec.Coder) {
	n := 0
	for i := range s.rows {
		if r := &s.rows[i]; r.committed.live || r.deleted {
			n++
		}
	}
	n = codec.Length(c, n)
	if c.Reading() {
		for range n {
			var r row
			s.codeCommitted(c, &r)
			*s.insert(r.key) = r
		}
		return
	}
	for i := range s.rows {
		if r := s.rows[i]; r.committed.live || r.deleted {
			s.codeCommitted(c, &r)
		}
	}
}

func (s *Store) codeCommitted(c *codec.Coder, r *row) {
	codeKey(c, &r.key)
	codec.Bool(c, &r.deleted)
	s.codeVersion(c, &r.committed)
	r.now = r.committed
	r.writer, r.reborn = 0, false
}

func codeKey(c *codec.Coder, k *key) {
	codec.Byte(c, &k.table)
	codec.Byte(c, &k.lock)
	codec.Byte(c, &k.num)
}

func (s *Store) codeVersion(c *codec.Coder, v *version) {
	codec.Bool(c, &v.live)
	if codec.Byte(c, &v.token); v.token != 0 {
		s.codeUntil(c, &v.until)
	}
}

// longest is an age in milliseconds. Times that are longer ago are encoded as equal, so that executions without end
// have finitely many states.
const longest = 1 << 12

// codeTime writes or reads a time that a statement may use, such as the time at which it began, relative to the
// server's clock.
func (s *Store) codeTime(c *codec.Coder, at *int64) { s.codeFrom(c, at, s.Now-longest) }

// codeUntil writes or reads the end of a lease, relative to the server's clock. Leases that ended before every time
// that a statement may still use are encoded as equal.
func (s *Store) codeUntil(c *codec.Coder, at *int64) {
	first := int64(0)
	if !c.Reading() {
		first = max(s.oldest(), s.Now-longest) - 1
	}
	s.codeFrom(c, at, first)
}

// codeFrom writes or reads a time, relative to the server's clock. Times before first are encoded as first.
func (s *Store) codeFrom(c *codec.Coder, at *int64, first int64) {
	n := max(*at, first) - s.Now
	codec.Number(c, &n)
	if c.Reading() {
		*at = s.Now + n
	}
}

// oldest returns the earliest time at which a statement may still check whether a lease has ended.
func (s *Store) oldest() int64 {
	at := s.Now
	for i := range s.sessions {
		t := &s.sessions[i]
		if t.open {
			at = min(at, t.began)
		}
		if !t.stmt.running {
			continue
		}
		if at = min(at, t.stmt.began); t.stmt.resumed {
			at = min(at, t.stmt.read)
		}
		if t.stmt.command.Clock == sql.GivenTime {
			at = min(at, t.stmt.command.Time)
		}
	}
	return at
}

// CodeSession writes or reads a session, with its locks and its uncommitted changes.
func (s *Store) CodeSession(c *codec.Coder, on uint8) {
	for int(on) > len(s.sessions) {
		s.sessions = append(s.sessions, session{})
	}
	t := &s.sessions[on-1]
	codec.Bools(c, &t.alive, &t.left, &t.open, &t.failed, &t.looked, &t.stmt.running)
	codec.Byte(c, &t.level)
	codec.Number(c, &t.undo)
	if s.dialect == sql.MariaDB {
		codec.Byte(c, &t.weight.structures)
		codec.Number(c, &t.weight.reusable)
		codec.Byte(c, &t.weight.tables)
	}
	if t.open {
		s.codeTime(c, &t.began)
	}
	s.codeSeen(c, &t.snapshot)
	if t.stmt.running {
		s.codeStatement(c, &t.stmt)
	}
	codec.Byte(c, &t.reply.Code)
	codec.Byte(c, &t.reply.Count)
	codec.Number(c, &t.reply.Nums)
	codec.Bool(c, &t.reply.RolledBack)
	s.codeChanges(c, on)
	s.codeLocks(c, on)
}

func (s *Store) codeSeen(c *codec.Coder, all *[]seen) {
	n := codec.Length(c, len(*all))
	if c.Reading() {
		*all = make([]seen, n)
	}
	for i := range *all {
		e := &(*all)[i]
		codeKey(c, &e.key)
		s.codeVersion(c, &e.version)
		codec.Bools(c, &e.changed, &e.gone)
	}
}

func (s *Store) codeStatement(c *codec.Coder, t *statement) {
	codec.Bools(c, &t.waits, &t.resumed, &t.has, &t.waited, &t.past)
	codeCommand(c, s, &t.command)
	s.codeTime(c, &t.began)
	codeKey(c, &t.at)
	s.codeTime(c, &t.read)
	codec.Byte(c, &t.found)
	s.codeSeen(c, &t.seen)
	n := codec.Length(c, len(t.undo))
	if c.Reading() {
		t.undo = make([]change, n)
	}
	for i := range t.undo {
		codeKey(c, &t.undo[i].key)
		s.codeVersion(c, &t.undo[i].was)
	}
}

func codeCommand(c *codec.Coder, s *Store, m *sql.Command) {
	codec.Byte(c, &m.Verb)
	codec.Byte(c, &m.Table)
	codec.Byte(c, &m.Rows)
	codec.Byte(c, &m.If)
	codec.Byte(c, &m.Read)
	codec.Byte(c, &m.Set)
	codec.Byte(c, &m.Clock)
	codec.Byte(c, &m.Level)
	for _, p := range []*uint8{&m.Lock, &m.Num, &m.Token} {
		codec.Byte(c, p)
	}
	codec.Bools(c, &m.First, &m.Ignore)
	codec.Number(c, &m.Lease)
	if m.Clock == sql.GivenTime {
		s.codeTime(c, &m.Time)
	}
}

// codeChanges writes or reads the rows that a session has changed without committing.
func (s *Store) codeChanges(c *codec.Coder, on uint8) {
	n := 0
	for i := range s.rows {
		if s.rows[i].writer == on {
			n++
		}
	}
	n = codec.Length(c, n)
	if c.Reading() {
		for range n {
			var k key
			codeKey(c, &k)
			r := s.insert(k)
			r.writer = on
			codec.Bool(c, &r.reborn)
			s.codeVersion(c, &r.now)
		}
		return
	}
	for i := range s.rows {
		if r := s.rows[i]; r.writer == on {
			codeKey(c, &r.key)
			codec.Bool(c, &r.reborn)
			s.codeVersion(c, &r.now)
		}
	}
}

// codeLocks writes or reads a session's locks, each with its index among the locks on the same row.
func (s *Store) codeLocks(c *codec.Coder, on uint8) {
	n := 0
	for i := range s.locks {
		if s.locks[i].session == on {
			n++
		}
	}
	n = codec.Length(c, n)
	if c.Reading() {
		for range n {
			l := claim{session: on}
			codeLock(c, &l)
			i := slices.IndexFunc(s.locks, func(o claim) bool {
				d := o.compare(l.key)
				return d > 0 || d == 0 && o.place > l.place
			})
			if i < 0 {
				i = len(s.locks)
			}
			s.locks = slices.Insert(s.locks, i, l)
		}
		return
	}
	place := uint8(0)
	for i := range s.locks {
		if place++; i == 0 || s.locks[i-1].key != s.locks[i].key {
			place = 0
		}
		if l := s.locks[i]; l.session == on {
			l.place = place
			codeLock(c, &l)
		}
	}
}

func codeLock(c *codec.Coder, l *claim) {
	codeKey(c, &l.key)
	codec.Byte(c, &l.kind)
	codec.Byte(c, &l.place)
	codec.Bools(c, &l.shared, &l.waits)
}
