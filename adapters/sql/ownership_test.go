package databases_test

import (
	"context"
	"crypto/rand"
	gosql "database/sql"
	"net/url"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/model/sql"
)

// names are names of a user's databases. Some look like those of lockproof, and some contain SQL.
var names = []string{
	"lockproof_2024", "lockproof_1700000000_mine", "lockproof_1700000000_abcdefgh", "lockproof-old",
	"lockproof_1; DROP TABLE kept", "lockproof_1700000000_`x", `lockproof_1700000000_"; DROP SCHEMA public CASCADE; --`,
}

// TestUsersDatabasesStay: a run works beside databases that it did not make, and does not drop them, whatever their
// names.
func TestUsersDatabasesStay(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			mine := database(t, d)
			for _, name := range names {
				made(t, mine, name)
			}
			database(t, d)
			for _, name := range names {
				var rows int
				if err := mine.QueryRow(t.Context(), "SELECT count(*) FROM "+mine.Identifier(name)+".kept").Scan(&rows); err != nil || rows != 1 {
					t.Errorf("%s: %d rows, %v", name, rows, err)
				}
			}
		})
	}
}

// made makes a database with a table and a row. It drops the database at the end of the test.
func made(t *testing.T, by *databases.Database, name string) {
	t.Helper()
	what, cascade := "DATABASE ", ""
	if by.Dialect == sql.Postgres {
		what, cascade = "SCHEMA ", " CASCADE"
	}
	quoted := by.Identifier(name)
	t.Cleanup(func() {
		if err := by.Exec(context.Background(), "DROP "+what+quoted+cascade); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range []string{
		"CREATE " + what + quoted, "CREATE TABLE " + quoted + ".kept (n integer)", "INSERT INTO " + quoted + ".kept VALUES (1)",
	} {
		if err := by.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSweep: the next run drops a database whose run has ended, even if it is new. It keeps one whose run is alive,
// even if it is old.
func TestSweep(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			alive, dead := database(t, d), database(t, d)
			dead.EndRun()
			next := database(t, d)
			for _, c := range []struct {
				of   *databases.Database
				want bool
			}{{alive, true}, {dead, false}, {next, true}} {
				if there, err := next.Exists(t.Context(), c.of.Name); err != nil || there != c.want {
					t.Errorf("%s is there: %t, expected %t; %v", c.of.Name, there, c.want, err)
				}
			}
		})
	}
}

// TestViewStays: if a user's view depends on a table that a run has left, neither the view nor the table is dropped.
func TestViewStays(t *testing.T) {
	dead := database(t, sql.Postgres)
	name := "users_" + strings.ToLower(rand.Text()[:8])
	made(t, dead, name)
	view := dead.Identifier(name) + ".seen"
	if err := dead.Exec(t.Context(), "CREATE VIEW "+view+" AS SELECT * FROM "+dead.Identifier(dead.Name)+".masters"); err != nil {
		t.Fatal(err)
	}
	dead.EndRun()
	next := database(t, sql.Postgres)
	if err := next.Exec(t.Context(), "SELECT * FROM "+view); err != nil {
		t.Errorf("the view: %v", err)
	}
	if err := next.Exec(t.Context(), "DROP VIEW "+view); err != nil {
		t.Fatal(err)
	}
	last := database(t, sql.Postgres)
	if there, err := last.Exists(t.Context(), dead.Name); err != nil || there {
		t.Errorf("without the view, the schema is there: %t, %v", there, err)
	}
}

// TestForeignFunctions: in PostgreSQL before version 15 every user may create functions in the public schema. Such
// functions do not cause the schema of a live run to be dropped.
func TestForeignFunctions(t *testing.T) {
	by := database(t, sql.Postgres)
	name := "lockproof_test_" + strings.ToLower(rand.Text()[:8])
	if err := by.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := by.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(by.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	s, err := databases.At(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	adversary, err := gosql.Open("pgx", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer adversary.Close()
	if _, err := adversary.ExecContext(t.Context(), "CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint LANGUAGE sql AS 'SELECT (random() * 1e15)::bigint'"); err != nil {
		t.Fatal(err)
	}
	var made [2]*databases.Database
	for i := range made {
		if made[i], err = s.Database(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer made[i].Close()
	}
	if there, err := made[1].Exists(t.Context(), made[0].Name); err != nil || !there {
		t.Errorf("a live run's schema is there: %t, %v", there, err)
	}
}

// TestForeignSessionStays: if the server has reused a session's number for another user, that user's session is not
// killed.
func TestForeignSessionStays(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			ours, theirs := database(t, d), session(t, database(t, d), sql.ReadCommitted)
			s, err := ours.Session(t.Context(), sql.ReadCommitted, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.TakeNumberOf(theirs)
			s.Start(map[sql.Dialect]string{sql.MariaDB: "SELECT sleep(30)", sql.Postgres: "SELECT pg_sleep(30)"}[d])
			s.Close()
			if _, err := theirs.Value(t.Context(), "SELECT 1"); err != nil {
				t.Errorf("somebody else's session was ended: %v", err)
			}
		})
	}
}

// TestCommentsAlike: on MariaDB, a comment that differs from lockproof's only by capitals, accents or a trailing
// space does not count as lockproof's.
func TestCommentsAlike(t *testing.T) {
	mine := database(t, sql.MariaDB)
	for _, comment := range []string{"made by lockproof, which drops it when its run has ended: %s ", "MADE BY lockproof, which drops it when its run has ended: %s", "made by lockpröof, which drops it when its run has ended: %s"} {
		name := "lockproof_1700000004_" + strings.ToLower(rand.Text()[:8])
		made(t, mine, name)
		if err := mine.Exec(t.Context(), "ALTER DATABASE "+mine.Identifier(name)+" COMMENT '"+strings.ReplaceAll(comment, "%s", name)+"'"); err != nil {
			t.Fatal(err)
		}
		next := database(t, sql.MariaDB)
		if there, err := next.Exists(t.Context(), name); err != nil || !there {
			t.Errorf("comment %q: the database is there: %t, %v", comment, there, err)
		}
	}
}
