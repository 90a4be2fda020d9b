package naive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// The commands of the two published forms of a lock in a database.
type sqlCommand int8

const (
	sqlBegin sqlCommand = iota
	sqlCountFirst
	sqlMaster
	sqlPurge
	sqlCount
	sqlInsert
	sqlFind
	sqlClaim
	sqlSubclaim
	sqlWhich
	sqlExtend
	sqlClear
	sqlCommit
	sqlRollback
)

var sqlNames = [...]string{"begin", "count", "lock master", "delete ended", "count", "insert", "find", "claim", "claim by subselect", "which",
	"extend", "clear", "commit", "roll back"}

// The results of a command other than a number of rows.
const (
	sqlOK int8 = iota
	sqlTimeout
	sqlSerialization
	sqlAborted
)

// sqlModel is a configuration. Times are in ms.
type sqlModel struct {
	postgres, slotForm, repeatable bool
	counted, clock, locking, claim string
	anyRelease, owned, proceed     bool
	deadline                       string
	lease, lockWait                int16
	retries                        int8
	clients, slots                 int
	calls                          []string
	crashes                        int8
	late                           bool
	programs                       map[string][]sqlCommand
	oldest                         int16
}

// sqlRow is a slot, a lease, or the lock's master row: what is committed, and what the transaction that locks it has made of it.
type sqlRow struct {
	owner           int8 // client that locks it, from 1
	token, newToken int8 // 0 is none
	until, newUntil int16
	changed         bool
	version         uint8
}

type sqlClient struct {
	op, pc                 int8
	dead, noticed          bool
	wait                   int8 // 1: its command waits; 2: it has come to a result that was not read
	rows, failure          int8
	at                     int8 // the row that it waits for
	waited                 int16
	begun, stated, sent    int16 // when its transaction and statement began, and when the lease's command was sent
	inTransaction, aborted bool
	snapshot               bool
	old                    [7]sqlRow // the snapshot
	gaps                   uint8     // MariaDB, REPEATABLE READ: the tokens that no other may insert meanwhile
	candidates             uint8
	try, found             int8
	slot                   int8
	deadline, until        int16
	seen                   uint8
	full, lived, extended  bool
}

type sqlState struct {
	rows    [7]sqlRow // 0 is the master row
	clients [3]sqlClient
	crashes int8
}

// sqlLists makes the commands of each operation.
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

// token is the name of a client's lease of the call that it is in, or the last acquire before.
func (m *sqlModel) token(c int, op int8) int8 {
	n := int8(0)
	for _, call := range m.calls[:op+1] {
		if call == "acquire" {
			n++
		}
	}
	return int8(c)*2 + n
}

// now is the server's time of leases in a client's command.
func (m *sqlModel) now(cl *sqlClient) int16 {
	switch {
	case m.clock == "statement", m.clock == "transaction" && !cl.inTransaction:
		return cl.stated
	case m.clock == "transaction":
		return cl.begun
	}
	return 0
}

// written is the time that an update writes: PostgreSQL's is from before it waited, unless the row has changed.
func (m *sqlModel) written(cl *sqlClient, changed bool) int16 {
	if m.postgres && m.clock == "system" && !changed {
		return cl.stated
	}
	return m.now(cl)
}

// seen is a row as a client's plain read sees it.
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

// take locks a row, or says that another has it.
func (s *sqlState) take(c, i int) bool {
	if r := &s.rows[i]; r.owner != 0 && r.owner != int8(c+1) {
		return false
	}
	s.rows[i].owner = int8(c + 1)
	return true
}

// put changes a row that the client locks.
func (s *sqlState) put(i int, token int8, until int16) {
	r := &s.rows[i]
	r.changed, r.newToken, r.newUntil = true, token, until
}

// current is what a row is to who locks it.
func (s *sqlState) current(i int) (int8, int16) {
	if r := &s.rows[i]; r.changed {
		return r.newToken, r.newUntil
	}
	return s.rows[i].token, s.rows[i].until
}

// end ends a client's transaction.
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

// span is the rows that leases, or slots, have.
func (m *sqlModel) span() (first, last int) {
	if m.slotForm {
		return 1, m.slots
	}
	return 1, 6
}

// execute carries out the command that a client is at. It may wait; a row that it has got before that stays its own.
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
		if cl.aborted { // PostgreSQL says that it has rolled back
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

// looks says whether a command takes the snapshot of its transaction: on MariaDB the first plain read does.
func (m *sqlModel) looks(cl *sqlClient, k sqlCommand) bool {
	if m.postgres {
		return cl.wait == 0 && k != sqlBegin && k != sqlCommit && k != sqlRollback
	}
	plain := m.locking == "none" && m.calls[cl.op] == "acquire"
	return k == sqlCountFirst || k == sqlCount || plain && (k == sqlFind || k == sqlMaster)
}

// candidate says whether a row is one that a statement of PostgreSQL looks at: by what was committed when it, or its
// transaction's snapshot, began.
func (m *sqlModel) candidate(cl *sqlClient, i int) bool {
	return !m.postgres || cl.candidates&(1<<i) != 0
}

// stale says that a row has changed since the snapshot of a PostgreSQL transaction that wants to lock it.
func (m *sqlModel) stale(s *sqlState, cl *sqlClient, i int) bool {
	return m.postgres && m.repeatable && cl.snapshot && cl.old[i].version != s.rows[i].version
}

// find looks for a slot and locks it; with claim, it is claimed at once.
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

// unlock gives up a row that a statement has no use for, as MariaDB does at READ COMMITTED. One that it has waited for it
// keeps.
func (m *sqlModel) unlock(s *sqlState, cl *sqlClient, i int, was int8) {
	if !m.postgres && !m.repeatable && (cl.wait == 0 || int(cl.at) != i) {
		s.rows[i].owner = was
	}
}

// overwrite puts a token into a slot, whatever it has become.
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

// around is the gap between two leases that a token without one is in.
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

// deadlock is the victim of a deadlock, if a client that waits now makes one: of two clients each waits for the other. MariaDB
// takes the one that has locked and changed less, or the last.
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

// own is the row that a client's lease is in.
func (m *sqlModel) own(cl *sqlClient, token int8) int {
	if m.slotForm {
		return int(cl.slot)
	}
	return int(token)
}

// change deletes the leases that are over, or extends or ends one's own.
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
	before := uint8(0) // the gap before the row at hand, which is locked with it
	for i := first; i <= last; i++ {
		r := &s.rows[i]
		switch {
		case m.postgres && !m.candidate(cl, i):
			continue
		case !m.postgres && k != sqlPurge && i != m.own(cl, token):
			continue // it is found by its key
		case !m.postgres && r.token == 0 && r.owner == 0: // there is none
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

// at is the command that a client is at.
func (m *sqlModel) at(cl *sqlClient) sqlCommand {
	if cl.pc < 0 {
		return sqlRollback
	}
	return m.programs[m.calls[cl.op]][cl.pc]
}

// believes says whether a client holds a slot as far as it knows.
func (m *sqlModel) believes(cl *sqlClient) bool {
	return cl.slot != 0 && !cl.dead && !m.releasing(cl) && (m.deadline == "never" || cl.deadline > 0)
}

// releasing says whether a client has begun to release.
func (m *sqlModel) releasing(cl *sqlClient) bool {
	return int(cl.op) < len(m.calls) && m.calls[cl.op] == "release" && (cl.pc != 0 || cl.wait != 0)
}

// finish ends a client's operation.
func (m *sqlModel) finish(cl *sqlClient) {
	*cl = sqlClient{op: cl.op + 1, dead: cl.dead, slot: cl.slot, deadline: cl.deadline, until: cl.until, begun: m.oldest, stated: m.oldest, sent: m.oldest}
	if cl.slot == 0 {
		cl.deadline, cl.until = m.oldest, m.oldest
	}
	for int(cl.op) < len(m.calls) && (m.calls[cl.op] == "acquire") == (cl.slot != 0) {
		cl.op++ // there is nothing to refresh or release, or it holds a slot still
	}
}

const (
	sqlFull int8 = -1 - iota
	sqlAgain
	sqlGone
	sqlGaveUp
)

// heed has a client go on after a reply. It says which properties that violates.
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
		rows = 1 // it goes on as if it had what it asked for
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

// gaveUp ends an operation that has failed.
func (m *sqlModel) gaveUp(cl *sqlClient) []string {
	if m.calls[cl.op] == "release" {
		cl.slot = 0
	}
	m.finish(cl)
	return nil
}

// done ends an operation that went well: an acquire that is granted, a refresh or a release.
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

// pass lets a millisecond pass. Times that no longer make a difference become the oldest, so that states are few.
func (m *sqlModel) pass(s *sqlState) {
	earliest := int16(0) // of the clocks that some command still reads
	for c := range s.clients {
		cl := &s.clients[c]
		for _, t := range []*int16{&cl.begun, &cl.stated, &cl.sent, &cl.deadline, &cl.until} {
			*t = max(*t-1, m.oldest)
		}
		if cl.wait != 1 {
			cl.stated = m.oldest
		}
		if !cl.inTransaction || m.clock != "transaction" {
			cl.begun = m.oldest
		}
		if cl.deadline <= 0 {
			cl.deadline = m.oldest
		}
		if cl.until < 0 {
			cl.until = m.oldest
		}
		if cl.sent < -m.lease {
			cl.sent = m.oldest
		}
		if cl.wait == 1 {
			earliest = min(earliest, cl.stated)
			if m.lockWait > 0 {
				cl.waited++
			}
		}
		if cl.begun != m.oldest {
			earliest = min(earliest, cl.begun)
		}
	}
	less := func(t *int16) {
		if *t--; *t < earliest {
			*t = m.oldest
		}
	}
	for i := range s.rows {
		less(&s.rows[i].until)
		less(&s.rows[i].newUntil)
	}
	for c := range s.clients {
		if cl := &s.clients[c]; cl.snapshot {
			for i := range cl.old {
				less(&cl.old[i].until)
			}
		}
	}
}

// patient says whether more time may pass: not for ever while a command or transaction keeps an old time.
func (m *sqlModel) patient(s *sqlState) bool {
	for c := range s.clients {
		cl := &s.clients[c]
		if cl.wait == 1 && cl.stated < -2*m.lease-2 || cl.begun != m.oldest && cl.begun < -2*m.lease-2 {
			return false
		}
	}
	return true
}

// observe notes what is so at a moment of each call, and says what is violated at it.
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

// settle has those that wait go on, in any order, once others have let go.
func (m *sqlModel) settle(s sqlState, each func(s sqlState)) {
	moved := false
	for c := range s.clients {
		if cl := &s.clients[c]; cl.wait != 1 {
			continue
		}
		after := s
		k := m.at(&after.clients[c])
		rows, failure, waits := m.execute(&after, c, k)
		if waits && after == s {
			continue
		}
		moved = true
		if !waits { // else it waits for another row now
			m.complete(&after, c, k, rows, failure)
		}
		m.settle(after, each)
	}
	if !moved {
		each(s)
	}
}

// complete notes what a command that has waited came to.
func (m *sqlModel) complete(s *sqlState, c int, k sqlCommand, rows, failure int8) {
	cl := &s.clients[c]
	cl.wait, cl.rows, cl.failure, cl.waited, cl.at = 2, rows, failure, 0, 0
	m.ended(s, c, k, failure)
}

// ended is what the server does at the end of a command: it commits one that stands alone, and gives a failed transaction up.
func (m *sqlModel) ended(s *sqlState, c int, k sqlCommand, failure int8) {
	cl := &s.clients[c]
	switch {
	case !cl.inTransaction:
		m.end(s, c, failure == sqlOK)
	case failure != sqlOK && m.postgres: // it has lost its locks already
		m.end(s, c, false)
		cl.inTransaction, cl.aborted = true, true
	case failure == sqlSerialization:
		m.end(s, c, false)
	}
	if cl.dead && cl.noticed {
		m.end(s, c, false)
	}
}

// next is every step from a state.
func (m *sqlModel) next(s sqlState, to func(step string, s sqlState, broken []string)) {
	arrive := func(step string, s sqlState, broken []string) {
		m.settle(s, func(s sqlState) {
			to(step, s, append(slices.Clone(broken), m.observe(&s)...))
		})
	}
	due := false
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.wait == 1 && m.lockWait > 0 && cl.waited >= m.lockWait {
			due = true
			after := s
			m.complete(&after, c, m.at(cl), 0, sqlTimeout)
			arrive(fmt.Sprintf("c%d has waited too long", c+1), after, nil)
		}
	}
	if due {
		return
	}
	after := s
	m.pass(&after)
	if after != s && m.patient(&s) {
		arrive("a millisecond", after, nil)
	}
	for c := range m.clients {
		cl := &s.clients[c]
		if cl.dead && !cl.noticed {
			after := s
			m.notice(&after, c)
			arrive(fmt.Sprintf("the server notices that c%d is dead", c+1), after, nil)
		}
		if cl.dead || int(cl.op) >= len(m.calls) {
			continue
		}
		if s.crashes < m.crashes {
			after := s
			after.crashes++
			after.clients[c].dead = true
			if !m.late {
				m.notice(&after, c)
			}
			arrive(fmt.Sprintf("c%d dies", c+1), after, nil)
		}
		m.step(s, c, arrive)
	}
}

// notice has the server end a dead client's session. A command that waits goes on to its end all the same.
func (m *sqlModel) notice(s *sqlState, c int) {
	cl := &s.clients[c]
	cl.noticed = true
	if cl.wait != 1 {
		m.end(s, c, false)
		*cl = sqlClient{op: int8(len(m.calls)), dead: true, noticed: true, begun: m.oldest, stated: m.oldest, sent: m.oldest, deadline: m.oldest, until: m.oldest}
	}
}

// step has a client send its next command, or read the result of one that has waited. It takes a millisecond.
func (m *sqlModel) step(s sqlState, c int, arrive func(step string, s sqlState, broken []string)) {
	cl := &s.clients[c]
	k := m.at(cl)
	switch cl.wait {
	case 1:
		return
	case 2:
		m.pass(&s)
		rows, failure := cl.rows, cl.failure
		cl.wait, cl.rows, cl.failure, cl.candidates = 0, 0, 0, 0
		broken := m.granted(&s, c, k, rows, failure)
		arrive(fmt.Sprintf("c%d: %s, that waited: %d rows, failure %d", c+1, sqlNames[k], rows, failure), s, broken)
		return
	}
	call := m.calls[cl.op]
	if cl.pc == 0 && cl.try == 0 {
		if cl.slot != 0 && !m.believes(cl) {
			cl.slot = 0
			cl.op--
			m.finish(cl)
			arrive(fmt.Sprintf("c%d: its time is over", c+1), s, nil)
			return
		}
		if m.lockWait == 0 || !m.overdue(&s) {
			cl.wait = 2 // a call has begun: what is so now is so at a moment of it
			m.observe(&s)
			cl.wait = 0
		}
	}
	m.pass(&s)
	cl.stated = 0
	if k == sqlInsert || k == sqlClaim || k == sqlSubclaim || k == sqlExtend {
		cl.sent = 0
	}
	rows, failure, waits := m.execute(&s, c, k)
	if waits {
		cl.wait = 1
		victim, any := m.deadlock(&s, c)
		if any && victim != c {
			m.complete(&s, victim, m.at(&s.clients[victim]), 0, sqlSerialization)
		}
		if !any || victim != c {
			arrive(fmt.Sprintf("c%d %s: %s: waits", c+1, call, sqlNames[k]), s, nil)
			return
		}
		cl.wait, rows, failure = 0, 0, sqlSerialization
	}
	m.ended(&s, c, k, failure)
	cl.candidates = 0
	broken := m.granted(&s, c, k, rows, failure)
	arrive(fmt.Sprintf("c%d %s: %s: %d rows, failure %d", c+1, call, sqlNames[k], rows, failure), s, broken)
}

func (m *sqlModel) overdue(s *sqlState) bool {
	for c := range s.clients {
		if s.clients[c].wait == 1 && s.clients[c].waited >= m.lockWait {
			return true
		}
	}
	return false
}

// granted heeds a reply, and says whether a grant that it makes disregards a lease.
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
		if s.rows[i].token != 0 && s.rows[i].until >= 0 { // what counts as over is until < now
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

func (m *sqlModel) start() (s sqlState) {
	for i := range s.rows {
		s.rows[i].until, s.rows[i].newUntil = m.oldest, m.oldest
	}
	for c := range s.clients {
		cl := &s.clients[c]
		cl.begun, cl.stated, cl.sent, cl.deadline, cl.until = m.oldest, m.oldest, m.oldest, m.oldest, m.oldest
	}
	return s
}

// drawSQL draws a configuration of one of the databases.
func drawSQL(r *rand.Rand) (c configuration, ask func(int) outcome) {
	m := &sqlModel{postgres: r.IntN(2) == 0, slotForm: r.IntN(2) == 0, counted: "after-lock", claim: "select"}
	c.target = pick(r, "mariadb", "postgres")
	m.postgres = c.target == "postgres"
	c.target += "-master"
	if m.slotForm {
		c.target = strings.Replace(c.target, "master", "slots", 1)
		m.anyRelease = r.IntN(4) == 0
		if m.anyRelease {
			c.set("released", "clear-any")
		}
		if m.postgres {
			m.claim = pick(r, "select", "subselect")
			c.set("claiming", m.claim)
		}
	} else {
		m.counted = pick(r, "after-lock", "before-lock", "twice")
		c.set("counted", m.counted)
	}
	m.locking = pick(r, "wait", "wait", "nowait", "skip-locked", "none")
	c.set("locking", m.locking)
	m.repeatable = r.IntN(3) == 0
	if m.repeatable {
		c.set("isolation", "repeatable-read")
	}
	m.clock = pick(r, "system", "statement")
	if m.postgres {
		m.clock = pick(r, "system", "statement", "transaction")
	}
	c.set("clock", m.clock)
	m.owned = r.IntN(3) == 0
	if m.owned {
		c.set("refreshes", "owned")
	}
	m.deadline = pick(r, "sending", "sending", "reply", "never")
	c.set("deadline", m.deadline)
	m.lease = pick[int16](r, 5, 7, 9) // of less, a millisecond decides
	c.set("lease", m.lease)
	if m.lockWait = pick[int16](r, 0, 0, 2, 3); m.lockWait > 0 {
		c.set("lock-wait", m.lockWait)
	}
	if m.proceed = r.IntN(3) == 0; m.proceed {
		c.set("on-timeout", "proceed")
	}
	m.retries = pick[int8](r, 0, 1)
	c.set("retries", m.retries)
	c.clients, c.slots = 2, 1+r.IntN(2)
	c.calls = pick(r, "acquire", "acquire,release", "acquire,refresh", "acquire,refresh,release", "acquire,release,acquire")
	if r.IntN(4) == 0 && c.slots == 1 {
		c.clients, c.calls = 3, pick(r, "acquire", "acquire,release")
	}
	c.faults = sim.FaultBounds{Crashes: r.IntN(2), Late: r.IntN(2) == 0}
	m.clients, m.slots, m.calls = c.clients, c.slots, strings.Split(c.calls, ",")
	m.crashes, m.late = int8(c.faults.Crashes), c.faults.Late
	m.sqlLists()
	return c, func(most int) outcome { return visit(m.start(), most, m.next) }
}

func TestSQL(t *testing.T) {
	agree(t, 5, compared{
		"many":    {property.MutualExclusion, property.NoPhantomSlot, property.LimitRespected},
		"full":    {property.HonestFull},
		"lease":   {property.LeaseRespected},
		"renewal": {property.RenewalHonest},
	}, drawSQL, 267, 275, 408, 732, 741, 2093, 2166)
}
