package rowstore

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// weight counts a transaction's lock structures. InnoDB chooses a deadlock's victim by their number and the number of
// changes. One structure stands for all locks of one mode and kind on a page. It stays until the transaction ends, even if
// its locks are released.
type weight struct {
	structures uint8
	reusable   uint32 // the modes whose structure can take more locks, as bits: see mode
	tables     uint8  // intention locks on tables: one bit for each table with IX, and behind these one for each with IS
}

// mode is the lock's bit in weight.reusable: one for each table, kind, and shared or exclusive. Behind the last row there is
// only a gap, so all kinds are equal there.
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

// weigh counts the structure of a lock that is about to be added. A waiting lock has a structure of its own. So has a lock
// on a row that other locks wait for (lock_rec_add_to_queue).
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

// waited marks a waiting lock as granted. From now on its structure can take more locks.
func (s *Store) waited(l *claim) {
	if l.waits = false; s.dialect == sql.MariaDB && l.kind != insertion {
		s.sessions[l.session-1].weight.reusable |= l.mode()
	}
}

// unwait removes the lock that a session waits for, and the lock's structure.
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

// intend adds the intention lock of a statement that is about to lock rows of table t.
func (s *Store) intend(on uint8, t sql.Table, shared bool) {
	w := &s.sessions[on-1].weight
	if !shared {
		w.tables |= 1 << t
	} else if w.tables&(1<<t) == 0 {
		w.tables |= 1 << (t + sql.Tables)
	}
}

// victim is the session whose transaction a deadlock ends. On MariaDB, it is the transaction with the least weight. Among
// equal weights it is the last one to wait, which is the first of the cycle. On PostgreSQL, it is the session that detects
// the deadlock: the last one to wait, if deadlock_timeout is short. [Store.Choose] can select another.
func (s *Store) victim(cycle []uint8) uint8 {
	least := 0
	for i, on := range cycle {
		if s.dialect == sql.MariaDB && s.weight(on) < s.weight(cycle[least]) {
			least = i
		}
	}
	return cycle[(least+s.choose(len(cycle)))%len(cycle)]
}

// weight is InnoDB's TRX_WEIGHT of a session's transaction: its changes plus its lock structures.
func (s *Store) weight(on uint8) int {
	t := &s.sessions[on-1]
	return int(t.undo) + int(t.weight.structures) + bits.OnesCount8(t.weight.tables)
}
