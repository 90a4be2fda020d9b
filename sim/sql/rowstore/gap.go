package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// kind is what an InnoDB lock protects: a row, the gap before the row, or both. PostgreSQL's locks on rows are onlyRow.
// insertion marks the request of an insert that waits.
type kind uint8

const (
	nextKey   kind = iota // the row and the gap before it
	onlyRow               // InnoDB's LOCK_REC_NOT_GAP
	gap                   // the gap before the row, against inserts
	insertion             // InnoDB's insert intention: waits for locks on a gap, and makes no other lock wait
)

// bars reports whether an existing lock (had) makes a request (wanted) wait, like InnoDB's lock_rec_has_to_wait.
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

// covers reports whether an existing lock (had) makes a request (wanted) of the same session unnecessary, like InnoDB's
// lock_rec_has_expl.
func covers(had, wanted *claim) bool {
	return had.key == wanted.key && had.session == wanted.session && !had.waits && had.kind != insertion &&
		wanted.kind != insertion && (!had.shared || wanted.shared) &&
		(had.kind == nextKey || had.kind == wanted.kind || wanted.num == 255)
}

// lock requests a lock on a row or gap. It returns OK or Blocked. fresh says that the session had no lock before that
// covers the requested one.
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
				before = min(before, i) // a new request goes before the waiting ones while the row is free
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

// narrow changes a request for a row and the gap before it to a request for the gap alone, if the session already has
// the row. InnoDB does so, and puts the lock behind waiting ones (FACTS M22).
func (s *Store) narrow(want *claim) {
	row := claim{key: want.key, session: want.session, kind: onlyRow, shared: want.shared}
	if s.dialect == sql.MariaDB && want.kind == nextKey && want.num != 255 &&
		slices.ContainsFunc(s.locks, func(l claim) bool { return l.kind == onlyRow && covers(&l, &row) }) {
		want.kind = gap
	}
}

// overtakes reports whether InnoDB grants lock want before other, a waiting lock of another session. It does if other
// waits for a lock that the requesting session already has on the row: otherwise the two sessions would wait for each
// other.
func (s *Store) overtakes(want, other *claim) bool {
	if s.dialect != sql.MariaDB || !other.waits || want.kind == gap || want.kind == insertion || want.num == 255 {
		return false
	}
	return slices.ContainsFunc(s.locks, func(had claim) bool {
		return had.session == want.session && !had.waits && (!had.shared || want.shared) && had.kind != gap && had.kind != insertion && bars(&had, other)
	})
}

// put adds a lock behind the locks on the same row.
func (s *Store) put(l claim) {
	s.weigh(&l)
	i := len(s.locks)
	for i > 0 && s.locks[i-1].compare(l.key) > 0 {
		i--
	}
	s.locks = slices.Insert(s.locks, i, l)
}

// explicit creates the lock that a session implicitly has on row k, which it has changed without committing. InnoDB
// creates such a lock only when another session (other) requests the row.
func (s *Store) explicit(k key, other uint8) {
	r := s.row(k)
	if s.dialect != sql.MariaDB || r == nil || r.writer == 0 || r.writer == other {
		return
	}
	l := claim{key: k, session: r.writer, kind: onlyRow}
	if !slices.ContainsFunc(s.locks, func(h claim) bool { return covers(&h, &l) }) {
		i, _ := slices.BinarySearchFunc(s.locks, k, func(l claim, k key) int { return l.compare(k) })
		s.weigh(&l)
		s.locks = slices.Insert(s.locks, i, l) // first, since the session has had it since its insert
	}
}

// implied reports whether a session needs no lock on a row because it has an uncommitted change of the row.
func (s *Store) implied(want *claim) bool {
	r := s.row(want.key)
	return s.dialect == sql.MariaDB && want.kind == onlyRow && r != nil && r.writer == want.session
}

// release releases a session's newest lock on row k, since the row did not match the session's command.
func (s *Store) release(on uint8, k key) {
	for i := len(s.locks) - 1; i >= 0; i-- {
		if s.locks[i].key == k && s.locks[i].session == on && !s.locks[i].waits {
			s.locks = slices.Delete(s.locks, i, i+1)
			break
		}
	}
	s.grant()
}

// grant grants each waiting lock that no earlier lock blocks any more, and continues its session.
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

// jump may move a waiting lock on the same row before the i-th lock, whose wait is over. PostgreSQL leaves this order
// to chance: any session that waits for a changed row may be the first to lock the new version.
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

// yield makes the given sessions, whose waits are over, wait for their rows again while another session continues. On
// PostgreSQL, the end of a wait does not grant the row.
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

// barring returns the session that the i-th lock waits for: the owner of the first earlier lock that blocks it; 0 if
// there is none. On PostgreSQL, an insert waits only for the transaction that has changed the row.
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

// wake ends a session's wait. Its statement continues in settle, after the current command.
func (s *Store) wake(on uint8) {
	s.sessions[on-1].stmt.waits = false
	s.ready = append(s.ready, on)
}

// inherit copies the locks on the key from, as locks on the gap before the key to. An inserted row inherits locks of
// the next row. The row after a removed row inherits the removed row's locks.
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

// forget removes a row that exists neither in its committed nor in its current version.
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

// purge removes the rows whose deletion is committed and that no session has locked. Snapshots have their own copies.
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

// wait makes a session's statement wait for the lock that it has requested. If this closes a cycle of waiting sessions,
// the transaction of a victim ends. The result is Blocked if the session waits, Deadlock if it is the victim, and OK if
// it waited only for the victim.
func (s *Store) wait(on uint8) sql.Code {
	s.sessions[on-1].stmt.waits = true
	for {
		cycle := s.cycle(on)
		if cycle == nil {
			if s.sessions[on-1].stmt.waits || len(s.ready) > 1 && s.choose(2) > 0 {
				return sql.Blocked // the session waits, or other sessions continue before it
			}
			s.ready = slices.DeleteFunc(s.ready, func(r uint8) bool { return r == on })
			return sql.OK // it waited only for the victim
		}
		victim := s.victim(cycle)
		if victim == on {
			return sql.Deadlock
		}
		s.sacrifice(victim)
	}
}

// sacrifice ends the transaction of a deadlock's victim. The statement that waited gets the error as its reply.
func (s *Store) sacrifice(on uint8) {
	t := &s.sessions[on-1]
	t.reply = sql.Reply{Code: sql.Deadlock}
	s.fail(on, sql.Deadlock)
	if t.stmt = (statement{}); t.left {
		s.end(on)
	}
}

// resolve ends deadlocks among waiting sessions. Such deadlocks can arise when the release of a lock changes whom each
// session waits for.
func (s *Store) resolve() {
	for cycle := s.deadlocked(); cycle != nil; cycle = s.deadlocked() {
		s.sacrifice(s.victim(cycle))
	}
}

// deadlocked returns a cycle of waiting sessions, or nil. Of several cycles, it chooses by the order of the locks, not
// by the numbers of the sessions.
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

// blocker returns the session that session on waits for: the first whose lock blocks it; 0 if it does not wait. On
// PostgreSQL, only the first session in a row's queue waits for the row's holder; the others wait for the first.
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

// cycle returns the chain of waiting sessions that leads from a session back to itself, or nil if there is none.
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
