package statement_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// TestStatements: the parsed access, table and text of statements are as expected.
func TestStatements(t *testing.T) {
	for sql, want := range map[string]struct {
		passes, reads bool
		table, shown  string
	}{
		"":                          {passes: true, reads: true},
		"select 1;":                 {passes: true, reads: true, shown: "select 1"},
		"SET lock_timeout = '5s'":   {passes: true, reads: true, shown: "SET lock_timeout = value1"},
		"SET x = 1; DELETE FROM t":  {table: "t", shown: "SET x = 1; DELETE FROM t"},
		"set autocommit=1":          {shown: "set autocommit=1"},
		"SET @a = GET_LOCK('a', 1)": {shown: "SET @a = GET_LOCK('a', 1)"},
		"DISCARD ALL":               {shown: "DISCARD ALL"},
		"SELECT version()":          {passes: true, reads: true, shown: "SELECT version()"},
		"SELECT @@max_allowed_packet": {passes: true, reads: true,
			shown: "SELECT @@max_allowed_packet"},
		"SELECT pg_advisory_lock(12345678901234)":     {shown: "SELECT pg_advisory_lock(value1)"},
		"SELECT t.oid FROM pg_catalog.pg_type t":      {passes: true, reads: true, table: "pg_type", shown: "SELECT t.oid FROM pg_catalog.pg_type t"},
		"SELECT * FROM locks WHERE name = 'run7-a'":   {reads: true, table: "locks", shown: "SELECT * FROM locks WHERE name = a"},
		"SELECT x FROM s.locks FOR UPDATE":            {table: "locks", shown: "SELECT x FROM s.locks FOR UPDATE"},
		"INSERT INTO \"Locks\" VALUES ($1, -- x\n$2)": {table: "locks", shown: "INSERT INTO Locks VALUES (a, value1)"},
		"CREATE TABLE IF NOT EXISTS l (a int)":        {table: "l", shown: "CREATE TABLE IF NOT EXISTS l (a int)"},
		"UPDATE l SET o = NULL WHERE o = 'it''s ;x'":  {table: "l", shown: "UPDATE l SET o = NULL WHERE o = value1"},
		"SELECT $a$;$a$":                       {passes: true, reads: true, shown: "SELECT value1"},
		"select now() + interval '30 seconds'": {reads: true, shown: "select now() + interval '30 seconds'"},
	} {
		s := statement.Read(sql, statement.Postgres)
		if got := s.Passes(); got != want.passes {
			t.Errorf("%s: passes is %v", sql, got)
		}
		if got := s.Reads(); got != want.reads {
			t.Errorf("%s: reads is %v", sql, got)
		}
		if got := s.Table(); got != want.table {
			t.Errorf("%s: is about %q", sql, got)
		}
		if got := s.Shown([]string{"run7-a", "TOKEN"}, stream.NewNames("run7-")); got != want.shown {
			t.Errorf("%s is shown as\n%s, not\n%s", sql, got, want.shown)
		}
	}
}

// FuzzStatement: no text makes the parser panic.
func FuzzStatement(f *testing.F) {
	f.Add("SELECT $1, 'a''b', $x$;$x$ -- c\n/* d */", true)
	f.Add("SELECT ?, \"a\\\"b\", `c` # d", false)
	f.Fuzz(func(t *testing.T, sql string, postgres bool) {
		d := statement.MariaDB
		if postgres {
			d = statement.Postgres
		}
		s := statement.Read(sql, d)
		if s.Passes() && !s.Reads() {
			t.Errorf("%q passes and changes something", sql)
		}
		_, _, _ = s.Name(), s.Table(), s.Access()
		_ = s.Shown([]string{"x"}, stream.NewNames("part"))
	})
}
