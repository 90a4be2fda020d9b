package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// kind is what of a row InnoDB locks. PostgreSQL has onlyRow.
type kind uint8

const (
	nextKey   kind = iota // the row and the gap before it
	onlyRow               // InnoDB's LOCK_REC_NOT_GAP
	gap                   // the gap before it, against inserts
	insertion             // InnoDB's insert intention: waits for the locks on a gap, and bars none
)

// bars reports whether a lock makes another, which is wanted, wait (InnoDB's lock_rec_has_to_wait).
func bars(had, wanted *claim) bool {
	switch {
	case had.key != wanted.key || had.session == wanted.session || had.shared && wanted.shared:
		return false
	case wanted.kind != insertion && (wanted.kind == gap || wanted.num == 255):
		return false
	case had.kind == insertion:
		return false
	case had.kind == gap:
		return wanted.kind == insertion
	}
	return wanted.kind != insertion || had.kind != onlyRow
}

// covers reports whether a lock makes another of the same session needless (lock_rec_has_expl).
func covers(had, wanted *claim) bool {
	return had.key == wanted.key && had.session == wanted.session && !had.waits && had.kind != insertion &&
		wanted.kind != insertion && (!had.shared || wanted.shared) &&
		(had.kind == nextKey || had.kind == wanted.kind || wanted.num == 255)
}

// lock makes a session lock a row or gap. It returns OK, with whether the lock is a new one, or Blocked.
func (s *Store) lock(want claim) (code sql.Code, fresh bool) {
	s.explicit(want.key, want.session)
	if s.implied(&want) {
		return sql.OK, false
	}
	s.narrow(&want)
	for i := range s.locks {
		if covers(&s.locks[i], &want) {
			return sql.OK, false
		}
	}
	before := len(s.locks)
	for i := range s.locks {
		l := &s.locks[i]
		if l.waits && s.dialect == sql.Postgres {
			if l.key == want.key {
				before = min(before, i) // any session may take the row while it is free
			}
			continue
		}
		if bars(l, &want) {
			if s.overtakes(&want, l) {
				before = min(before, i)
			} else {
				want.waits = true
			}
		}
	}
	if before < len(s.locks) && (!want.waits || s.dialect == sql.MariaDB) {
		s.weigh(&want)
		s.locks = slices.Insert(s.locks, before, want)
	} else {
		s.put(want)
	}
	if want.waits {
		return sql.Blocked, true
	}
	return sql.OK, true
}

// narrow leaves the gap of a row and the gap before it, where a session has the row already: InnoDB locks no more than that,
// behind those who wait (FACTS M22).
func (s *Store) narrow(want *claim) {
	row := claim{key: want.key, session: want.session, kind: onlyRow, shared: want.shared}
	if s.dialect == sql.MariaDB && want.kind == nextKey && want.num != 255 &&
		slices.ContainsFunc(s.locks, func(l claim) bool { return l.kind == onlyRow && covers(&l, &row) }) {
		want.kind = gap
	}
}

// overtakes reports whether InnoDB grants a lock before another session's waiting one. It does if that one waits for a lock
// that the session already has on the row: otherwise the two would wait for each other.
func (s *Store) overtakes(want, other *claim) bool {
	if s.dialect != sql.MariaDB || !other.waits || want.kind == gap || want.kind == insertion || want.num == 255 {
		return false
	}
	return slices.ContainsFunc(s.locks, func(had claim) bool {
		return had.session == want.session && !had.waits && (!had.shared || want.shared) && had.kind != gap && had.kind != insertion && bars(&had, other)
	})
}

// put adds a lock behind those on the same row.
func (s *Store) put(l claim) {
	s.weigh(&l)
	i := len(s.locks)
	for i > 0 && s.locks[i-1].compare(l.key) > 0 {
		i--
	}
	s.locks = slices.Insert(s.locks, i, l)
}

// explicit creates the lock of the session that inserted a row, which InnoDB does only when another session needs the
// row.
func (s *Store) explicit(k key, other uint8) {
	r := s.row(k)
	if s.dialect != sql.MariaDB || r == nil || r.writer == 0 || r.writer == other {
		return
	}
	l := claim{key: k, session: r.writer, kind: onlyRow}
	if !slices.ContainsFunc(s.locks, func(h claim) bool { return covers(&h, &l) }) {
		i, _ := slices.BinarySearchFunc(s.locks, k, func(l claim, k key) int { return l.compare(k) })
		s.weigh(&l)
		s.locks = slices.Insert(s.locks, i, l) // it has been there since the insert
	}
}

// implied reports whether a session has the lock of who has inserted a row, which it does not make for itself.
func (s *Store) implied(want *claim) bool {
	r := s.row(want.key)
	return s.dialect == sql.MariaDB && want.kind == onlyRow && r != nil && r.writer == want.session
}

// release gives up a session's newest lock on a row, which did not turn out to be of use.
func (s *Store) release(on uint8, k key) {
	for i := len(s.locks) - 1; i >= 0; i-- {
		if s.locks[i].key == k && s.locks[i].session == on && !s.locks[i].waits {
			s.locks = slices.Delete(s.locks, i, i+1)
			break
		}
	}
	s.grant()
}

// grant grants the waiting locks that no earlier lock bars any more.
func (s *Store) grant() {
	for i := range s.locks {
		if s.locks[i].waits && s.barring(i) == 0 {
			s.jump(i)
			l := &s.locks[i]
			s.waited(l)
			s.wake(l.session)
		}
	}
	if s.dialect == sql.Postgres {
		s.locks = slices.DeleteFunc(s.locks, func(l claim) bool { return l.kind == insertion && !l.waits })
	}
}

// jump lets a waiting claim go before the i-th claim, whose wait is over, if their order is chance. On PostgreSQL, any
// session that waits for a changed row may get to its new version first.
func (s *Store) jump(i int) {
	if s.dialect != sql.Postgres {
		return
	}
	all := []int{i}
	for k := i + 1; k < len(s.locks) && s.locks[k].key == s.locks[i].key; k++ {
		if s.locks[k].waits && s.locks[k].kind == s.locks[i].kind {
			all = append(all, k)
		}
	}
	k := all[s.choose(len(all))]
	first := s.locks[k]
	copy(s.locks[i+1:k+1], s.locks[i:k])
	s.locks[i] = first
}

// yield makes the other awake sessions wait again while one continues: on PostgreSQL, the end of a wait does not
// grant the row.
func (s *Store) yield(all []uint8) {
	for i := range s.locks {
		l := &s.locks[i]
		t := &s.sessions[l.session-1].stmt
		if l.kind == onlyRow && l.key == t.at && slices.Contains(all, l.session) {
			l.waits, t.waits = true, true
			s.ready = slices.DeleteFunc(s.ready, func(r uint8) bool { return r == l.session })
		}
	}
}

// barring is the session whose lock the i-th claim waits for: the first before it. An insert on PostgreSQL waits for
// the end of the transaction that has changed the row, whatever other sessions wait for.
func (s *Store) barring(i int) uint8 {
	l := &s.locks[i]
	if s.dialect == sql.Postgres && l.kind == insertion {
		if r := s.row(l.key); r != nil && r.writer != l.session {
			return r.writer
		}
		return 0
	}
	for h := range s.locks[:i] {
		if bars(&s.locks[h], l) {
			return s.locks[h].session
		}
	}
	return 0
}

// wake has a session go on, once the command at hand is over.
func (s *Store) wake(on uint8) {
	s.sessions[on-1].stmt.waits = false
	s.ready = append(s.ready, on)
}

// inherit gives a row the locks of another as gap locks. An inserted row inherits those of the row behind it. The row
// behind a removed one inherits those of the removed row.
func (s *Store) inherit(from, to key, inserted bool) {
	for _, l := range slices.Clone(s.locks) {
		if l.key != from || l.kind == insertion {
			continue
		}
		if inserted && l.kind == onlyRow && from.num != 255 {
			continue
		}
		if !inserted && s.sessions[l.session-1].level == sql.ReadCommitted && !l.shared {
			continue
		}
		heir := claim{key: to, session: l.session, kind: gap, shared: l.shared}
		if !slices.ContainsFunc(s.locks, func(h claim) bool { return covers(&h, &heir) }) {
			s.put(heir)
		}
	}
}

// forget takes away a row that was never committed, or whose deletion was.
func (s *Store) forget(k key) {
	i, ok := s.find(k)
	if !ok || s.rows[i].now.live || s.rows[i].committed.live {
		return
	}
	if s.dialect == sql.MariaDB {
		s.inherit(k, s.after(k), false)
	}
	s.rows = slices.Delete(s.rows, i, i+1)
	for _, l := range s.locks {
		if l.key == k && l.waits {
			s.waited(&l)
			s.wake(l.session)
		}
	}
	s.locks = slices.DeleteFunc(s.locks, func(l claim) bool { return l.key == k })
}

// purge removes rows whose deletion is committed and that no session has locked. Old snapshots keep their own copies.
func (s *Store) purge() {
	if s.Keep && s.dialect == sql.MariaDB {
		return
	}
	for i := len(s.rows) - 1; i >= 0; i-- {
		r := &s.rows[i]
		if r.now.live || r.committed.live || r.writer != 0 ||
			slices.ContainsFunc(s.locks, func(l claim) bool { return l.key == r.key }) {
			continue
		}
		s.forget(r.key)
	}
}

// wait has a session's statement wait for a lock that it has put, unless there is a deadlock, of which it may be the victim.
func (s *Store) wait(on uint8) sql.Code {
	s.sessions[on-1].stmt.waits = true
	for {
		cycle := s.cycle(on)
		if cycle == nil {
			if s.sessions[on-1].stmt.waits || len(s.ready) > 1 && s.choose(2) > 0 {
				return sql.Blocked // or other sessions that woke with it continue first
			}
			s.ready = slices.DeleteFunc(s.ready, func(r uint8) bool { return r == on })
			return sql.OK // the victim's locks were all that it waited for
		}
		victim := s.victim(cycle)
		if victim == on {
			return sql.Deadlock
		}
		s.sacrifice(victim)
	}
}

// sacrifice ends the transaction of a deadlock's victim, which waits.
func (s *Store) sacrifice(on uint8) {
	t := &s.sessions[on-1]
	t.reply = sql.Reply{Code: sql.Deadlock}
	s.fail(on, sql.Deadlock)
	if t.stmt = (statement{}); t.left {
		s.end(on)
	}
}

// resolve ends deadlocks that arose after a lock was released and other sessions wait for other locks now.
func (s *Store) resolve() {
	for cycle := s.deadlocked(); cycle != nil; cycle = s.deadlocked() {
		s.sacrifice(s.victim(cycle))
	}
}

// deadlocked is the cycle of waiting sessions, or nil. The order of the locks decides, not the numbers of the
// sessions.
func (s *Store) deadlocked() []uint8 {
	for i := range s.locks {
		if l := &s.locks[i]; l.waits && s.sessions[l.session-1].stmt.waits {
			if cycle := s.cycle(l.session); cycle != nil {
				return cycle
			}
		}
	}
	return nil
}

// blocker is the session that a session waits for: the first whose lock bars its own; 0 if it does not wait. On
// PostgreSQL only the first session that waits for a row waits for its holder, and the others wait for that session.
func (s *Store) blocker(on uint8) uint8 {
	i := slices.IndexFunc(s.locks, func(l claim) bool { return l.session == on && l.waits })
	if i < 0 {
		return 0
	}
	l := &s.locks[i]
	if s.dialect == sql.Postgres && l.kind == onlyRow {
		first := slices.IndexFunc(s.locks, func(o claim) bool { return o.key == l.key && o.waits && o.kind == onlyRow })
		if first < i {
			return s.locks[first].session
		}
	}
	return s.barring(i)
}

// cycle is the chain of waits from a session back to itself, or nil.
func (s *Store) cycle(on uint8) (all []uint8) {
	for at := on; ; {
		all = append(all, at)
		at = s.blocker(at)
		if at == on {
			return all
		}
		if at == 0 || slices.Contains(all, at) {
			return nil
		}
	}
}
