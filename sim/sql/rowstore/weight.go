package rowstore

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/sql"
)

// weight is the measure of a transaction's locks by which InnoDB chooses a deadlock's victim. A structure stands for
// all locks of one mode and kind on a page, and stays until the transaction ends, even without its locks.
type weight struct {
	structures uint8
	reusable   uint32 // the modes of those structures that take more locks: see mode
	tables     uint8  // the tables with an intention to lock rows: a bit each for IX, and behind those for IS
}

// mode is a lock's among a transaction's reusable structures. Behind the last row there is only a gap.
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

// weigh notes a lock that is about to be put. One that waits has a structure of its own, and so has one on a row that others
// wait for (lock_rec_add_to_queue).
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

// waited has a lock be waited for no more: its structure takes others now.
func (s *Store) waited(l *claim) {
	if l.waits = false; s.dialect == sql.MariaDB && l.kind != insertion {
		s.sessions[l.session-1].weight.reusable |= l.mode()
	}
}

// unwait takes back the lock that a session waits for, with its structure.
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

// intend notes that a session's statement is about to lock rows of a table.
func (s *Store) intend(on uint8, t sql.Table, shared bool) {
	w := &s.sessions[on-1].weight
	if !shared {
		w.tables |= 1 << t
	} else if w.tables&(1<<t) == 0 {
		w.tables |= 1 << (t + sql.Tables)
	}
}

// victim is the transaction that a deadlock ends. On MariaDB it is the one of least weight; of equals the last to wait, which
// is the first of the cycle. On PostgreSQL it is the one that detects the deadlock: the last to wait, if deadlock_timeout
// is short.
func (s *Store) victim(cycle []uint8) uint8 {
	least := 0
	for i, on := range cycle {
		if s.dialect == sql.MariaDB && s.weight(on) < s.weight(cycle[least]) {
			least = i
		}
	}
	return cycle[(least+s.choose(len(cycle)))%len(cycle)]
}

// weight is InnoDB's TRX_WEIGHT: changes made, and lock structures.
func (s *Store) weight(on uint8) int {
	t := &s.sessions[on-1]
	return int(t.undo) + int(t.weight.structures) + bits.OnesCount8(t.weight.tables)
}
