package rowstore

import "github.com/lockproof/lockproof/model/sql"

// serializable reports whether PostgreSQL lets a transaction commit at SERIALIZABLE: not one that has read a table which a
// transaction has changed that ended meanwhile, and changed a table which such a transaction has read. Tables are as fine as
// it looks here, and an end of the other is waited for: the real server may refuse more, and earlier.
func (s *Store) serializable(on uint8) bool {
	t := &s.sessions[on-1]
	if s.dialect != sql.Postgres || t.level != sql.Serializable {
		return true
	}
	if t.reads&t.othersWrote != 0 && t.wrote&t.othersRead != 0 {
		return false
	}
	for i := range s.sessions {
		if o := &s.sessions[i]; uint8(i+1) != on && o.looked {
			o.othersRead |= t.reads
			o.othersWrote |= t.wrote
		}
	}
	return true
}
