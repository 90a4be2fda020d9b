package rowstore

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// weight counts the lock structures of a transaction. InnoDB chooses a deadlock's victim by the number of these and of
// changes. One structure stands for all locks of one mode and kind on a page. It stays until the transaction ends, even
// if its locks are released.
type weight struct {
	structures uint8
	reusable   uint32 // set of modes whose structure can take more locks, see mode
	tables     uint8  // intention locks on tables: one bit for each table with IX, then one for each with IS
}

// mode returns the lock's bit in weight.reusable: one for each table, kind, and shared or exclusive. Behind the last
// row there is only a gap, so all kinds of locks have the same bit there.
func (l *claim) mode() uint32 {
	kind := l.kind
	if l.num == 255 {
		kind = nextKey
	}
	n := (uint32(l.table)*uint32(insertion) + uint32(kind)) * 2
	if l.shared {
		n++
	}
	return 1 << n
}

// weigh counts the structure of a lock that is about to be added. A waiting lock needs its own structure, and so does a
// lock on a row that other locks wait for (InnoDB's lock_rec_add_to_queue).
func (s *Store) weigh(l *claim) {
	w := &s.sessions[l.session-1].weight
	if s.dialect != sql.MariaDB {
		return
	}
	own := l.waits || slices.ContainsFunc(s.locks, func(o claim) bool { return o.key == l.key && o.waits })
	if own || w.reusable&l.mode() == 0 {
		w.structures++
	}
	if !l.waits {
		w.reusable |= l.mode()
	}
}

// waited marks a waiting lock as granted. Its structure can take more locks from now on.
func (s *Store) waited(l *claim) {
	if l.waits = false; s.dialect == sql.MariaDB && l.kind != insertion {
		s.sessions[l.session-1].weight.reusable |= l.mode()
	}
}

// unwait removes the lock that a session waits for, and its structure.
func (s *Store) unwait(on uint8) {
	i := slices.IndexFunc(s.locks, func(l claim) bool { return l.session == on && l.waits })
	if i < 0 {
		return
	}
	s.locks = slices.Delete(s.locks, i, i+1)
	if s.dialect == sql.MariaDB {
		s.sessions[on-1].weight.structures--
	}
}

// intend counts the intention lock of a statement that is about to lock rows of table t.
func (s *Store) intend(on uint8, t sql.Table, shared bool) {
	w := &s.sessions[on-1].weight
	if !shared {
		w.tables |= 1 << t
	} else if w.tables&(1<<t) == 0 {
		w.tables |= 1 << (t + sql.Tables)
	}
}

// victim returns the session whose transaction a deadlock ends. On MariaDB, its transaction has the least weight. Among
// equal weights it is the last session to wait, which is the first of the cycle. On PostgreSQL, it is the session that
// detects the deadlock: the last one to wait, if deadlock_timeout is short. [Store.Choose] can select another.
func (s *Store) victim(cycle []uint8) uint8 {
	least := 0
	for i, on := range cycle {
		if s.dialect == sql.MariaDB && s.weight(on) < s.weight(cycle[least]) {
			least = i
		}
	}
	return cycle[(least+s.choose(len(cycle)))%len(cycle)]
}

// weight returns InnoDB's TRX_WEIGHT of a session's transaction: the number of its changes plus that of its lock
// structures.
func (s *Store) weight(on uint8) int {
	t := &s.sessions[on-1]
	return int(t.undo) + int(t.weight.structures) + bits.OnesCount8(t.weight.tables)
}
