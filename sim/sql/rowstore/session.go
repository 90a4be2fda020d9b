package rowstore

import (
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// session is a client's connection to the server.
type session struct {
	alive  bool
	left   bool // the client has gone; the server detects this when the session's statement ends
	level  sql.Level
	open   bool   // in a transaction that BEGIN has started
	failed bool   // PostgreSQL has aborted the transaction, and the client has to end it
	looked bool   // the transaction has taken its snapshot
	began  int64  // time at which the transaction began
	undo   uint16 // number of changes by the transaction, which is part of its weight on InnoDB
	weight weight
	// snapshot has the rows that were committed at the transaction's first statement; only above READ COMMITTED.
	snapshot []seen
	stmt     statement
	reply    sql.Reply // the reply to the last command
}

// statement is the command that a session executes now.
type statement struct {
	running bool
	waits   bool
	command sql.Command
	began   int64
	at      key    // the row that the statement waits for or scans next
	resumed bool   // the statement has begun its scan, which continues from the key at
	read    int64  // time by the command's clock, read for the current row before any wait for that row
	seen    []seen // the statement's snapshot, at READ COMMITTED
	undo    []change
	found   uint8 // for a claim: number of the row that the subselect found
	has     bool  // for a claim: found is set
	waited  bool  // the statement has waited for the current row
	past    bool  // PostgreSQL: two rows have the key at; the snapshot's is scanned, the transaction's own is next
}

// change is a row as it was before a statement changed it.
type change struct {
	key
	was version
}

// seen is a row in a snapshot. changed says that another session has changed or deleted the row since the snapshot.
// gone says that another session has deleted it.
type seen struct {
	key
	version
	changed, gone bool
}

// Open opens a session whose transactions have the given isolation level, and returns its number, from 1. A new session
// can get the number of a session that has ended.
func (s *Store) Open(level sql.Level) uint8 {
	i := slices.IndexFunc(s.sessions, func(t session) bool { return !t.alive })
	if i < 0 {
		i = len(s.sessions)
		s.sessions = append(s.sessions, session{})
	}
	s.sessions[i] = session{alive: true, level: level}
	return uint8(i + 1)
}

// Alive reports whether a session exists. InTransaction reports whether it is in an explicit transaction. Waits reports
// whether its statement waits.
func (s *Store) Alive(on uint8) bool         { return int(on) <= len(s.sessions) && s.sessions[on-1].alive }
func (s *Store) InTransaction(on uint8) bool { return s.sessions[on-1].open }
func (s *Store) Waits(on uint8) bool         { return s.sessions[on-1].stmt.running }

// Answer returns the reply to a session's last command; it is [sql.Blocked] while the command waits.
func (s *Store) Answer(on uint8) sql.Reply {
	if s.Waits(on) {
		return sql.Reply{Code: sql.Blocked}
	}
	return s.sessions[on-1].reply
}

// Leave ends the session of a client that has gone. A server that waits for the client's next command detects this at
// once. If the client's statement waits for a lock, the server detects it only after the wait, and the statement takes
// effect (FACTS M8, G9).
func (s *Store) Leave(on uint8) {
	if t := &s.sessions[on-1]; t.alive && t.stmt.running {
		t.left = true
		return
	}
	s.End(on)
}

// Left returns the sessions whose client is gone but whose statement still waits.
func (s *Store) Left() (all []uint8) {
	for i := range s.sessions {
		if t := &s.sessions[i]; t.alive && t.left {
			all = append(all, uint8(i+1))
		}
	}
	return all
}

// End ends a session at once. A waiting statement has no effect, and the transaction is rolled back.
func (s *Store) End(on uint8) {
	if s.sessions[on-1].alive {
		s.end(on)
		s.settle()
	}
}

func (s *Store) end(on uint8) {
	s.rollBack(on)
	s.sessions[on-1] = session{}
}

// Restart restarts the server. All sessions end (FACTS M16).
func (s *Store) Restart() {
	for i := range s.sessions {
		if s.sessions[i].alive {
			s.rollBack(uint8(i + 1))
		}
		s.sessions[i] = session{}
	}
	s.ready, s.closing = s.ready[:0], s.closing[:0]
}

// TimeOut ends the wait of a session's statement with a lock timeout. MariaDB undoes the statement and keeps the
// transaction (FACTS M1). PostgreSQL aborts the transaction (FACTS G6).
func (s *Store) TimeOut(on uint8) {
	t := &s.sessions[on-1]
	if !t.alive || !t.stmt.running {
		return
	}
	t.reply = sql.Reply{Code: sql.LockTimeout}
	s.fail(on, sql.LockTimeout)
	t.stmt = statement{}
	if !t.open {
		s.commit(on)
	}
	if t.left {
		s.end(on)
	}
	s.settle()
}

// fail ends a statement with an error code. It undoes the statement or, on PostgreSQL and after a deadlock, the whole
// transaction.
func (s *Store) fail(on uint8, code sql.Code) {
	t := &s.sessions[on-1]
	s.cancel(on)
	if s.dialect == sql.Postgres || code == sql.Deadlock {
		open := t.open && s.dialect == sql.Postgres
		s.rollBack(on)
		t.open, t.failed = open, open
		return
	}
	t.undo -= uint16(len(t.stmt.undo))
	for _, c := range slices.Backward(t.stmt.undo) {
		r := s.row(c.key)
		r.now = c.was
		if r.now == r.committed {
			if r.writer = 0; !r.deleted {
				s.forget(r.key)
			}
		}
	}
}

// commit makes a session's changes visible to others.
func (s *Store) commit(on uint8) {
	for i := range s.rows {
		if r := &s.rows[i]; r.writer == on {
			s.publish(r)
		}
	}
	s.close(on)
	s.sessions[on-1].open = false
}

// publish commits the change of a row, and marks the row as changed in other sessions' snapshots.
func (s *Store) publish(r *row) {
	for i := range s.sessions {
		t := &s.sessions[i]
		if r.writer == uint8(i+1) {
			continue
		}
		for _, snap := range [][]seen{t.snapshot, t.stmt.seen} {
			for k := range snap {
				if snap[k].key == r.key && snap[k].live {
					snap[k].changed = true
					snap[k].gone = snap[k].gone || r.reborn || !r.now.live
				}
			}
		}
	}
	s.Published++
	r.committed, r.writer, r.reborn, r.deleted = r.now, 0, false, !r.now.live
}

// rollBack undoes the changes of a session's transaction.
func (s *Store) rollBack(on uint8) {
	s.cancel(on)
	for i := len(s.rows) - 1; i >= 0; i-- {
		r := &s.rows[i]
		if r.writer != on {
			continue
		}
		r.now, r.writer, r.reborn = r.committed, 0, false
		if !r.committed.live && !r.deleted {
			s.forget(r.key)
		}
	}
	t := &s.sessions[on-1]
	t.open, t.failed = false, false
	// A session that waited for a removed row may continue before the locks are released (FACTS M23).
	if len(s.ready) > 0 && s.dialect == sql.MariaDB && s.choose(2) > 0 {
		s.closing = append(s.closing, on)
		return
	}
	s.close(on)
}

// close releases the locks and the snapshot of a session's transaction.
func (s *Store) close(on uint8) {
	t := &s.sessions[on-1]
	t.snapshot, t.looked, t.undo, t.weight = t.snapshot[:0], false, 0, weight{}
	s.locks = slices.DeleteFunc(s.locks, func(l claim) bool { return l.session == on })
	s.grant()
	s.purge()
}

// cancel removes the lock request that a session's statement waits for.
func (s *Store) cancel(on uint8) {
	s.sessions[on-1].stmt.waits = false
	s.unwait(on)
	s.ready = slices.DeleteFunc(s.ready, func(r uint8) bool { return r == on })
	s.grant()
}

// look appends the committed rows of table t to buf; sql.Tables selects all tables.
func (s *Store) look(buf []seen, t sql.Table) []seen {
	for i := range s.rows {
		if r := &s.rows[i]; r.committed.live && (t == sql.Tables || r.table == t) {
			buf = append(buf, seen{key: r.key, version: r.committed})
		}
	}
	return buf
}

// now returns the time that a command uses: when its statement or transaction began, a given time, or the current time.
func (s *Store) now(on uint8, c *sql.Command) int64 {
	t := &s.sessions[on-1]
	switch c.Clock {
	case sql.StatementTime:
		return t.stmt.began
	case sql.TransactionTime:
		return t.began
	case sql.GivenTime:
		return c.Time
	}
	return s.Now
}

// holds reports whether version v of row num satisfies a command's condition at time now.
func holds(c *sql.Command, num uint8, v version, now int64) bool {
	inside := c.Rows != sql.One || num == c.Num
	inside = inside && (c.Rows != sql.Below || num < c.Num)
	over := v.token != 0 && v.until < now
	switch c.If {
	case sql.Owned:
		return inside && v.token == c.Token
	case sql.Expired:
		return inside && over
	case sql.Free:
		return inside && (v.token == 0 || over)
	case sql.Live:
		return inside && v.token != 0 && !over
	case sql.Kept:
		return inside && v.token == c.Token && v.token != 0 && !over
	}
	return inside
}

// changed returns what an update or delete makes of version v of a row.
func changed(c *sql.Command, v version, now int64) version {
	switch {
	case c.Verb == sql.Delete:
		return version{}
	case c.Set == sql.Grant:
		v.token, v.until = c.Token, now+c.Lease
	case c.Set == sql.Renew && v.token != 0:
		v.until = now + c.Lease
	case c.Set == sql.Clear:
		v.token, v.until = 0, 0
	}
	return v
}

// inserted returns the row version that an insert makes at time now.
func inserted(c *sql.Command, now int64) version {
	v := version{live: true, token: c.Token}
	if c.Token > 0 {
		v.until = now + c.Lease
	}
	return v
}

// tell adds a row that the command has read or changed to the reply.
func (t *session) tell(num uint8) {
	t.reply.Count++
	if t.stmt.command.Verb == sql.Select {
		t.reply.Nums |= 1 << (num & 31)
	}
}
