package databases_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/internal/containertest"
	"github.com/lockproof/lockproof/model/sql"
)

// required are the environment variables, by dialect, that make a test fail if there is no server. Otherwise the test
// is skipped.
var required = [...]string{sql.MariaDB: "LOCKPROOF_REQUIRE_MARIADB", sql.Postgres: "LOCKPROOF_REQUIRE_POSTGRES"}

var dialects = []sql.Dialect{sql.MariaDB, sql.Postgres}

// images are the names of the servers' container images, by dialect.
var images = [...]string{sql.MariaDB: "mariadb", sql.Postgres: "postgres"}

// found returns a running server or, if there is none, one in a container.
func found(t *testing.T, d sql.Dialect) (*databases.Server, error) {
	server, err := databases.Find(t.Context(), d)
	if !errors.Is(err, databases.ErrMissing) {
		return server, err
	}
	url, none := containertest.URL(images[d], func(ctx context.Context, url string) error {
		_, err := databases.At(ctx, url)
		return err
	})
	if none != nil {
		return nil, fmt.Errorf("%w; %w", err, none)
	}
	return databases.At(t.Context(), url)
}

// database makes a database for a test. It skips the test if there is no server.
func database(t *testing.T, d sql.Dialect) *databases.Database {
	t.Helper()
	server, err := found(t, d)
	if errors.Is(err, databases.ErrMissing) && os.Getenv(required[d]) == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// patience is the maximum time to wait for a reply.
const patience = 10 * time.Second

// session opens a session, which is closed at the end of the test.
func session(t *testing.T, db *databases.Database, level sql.Level) *databases.Session {
	t.Helper()
	s, err := db.Session(t.Context(), level, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// send sends a command that does not wait for a lock, and returns the reply.
func send(t *testing.T, s *databases.Session, c sql.Command) sql.Reply {
	t.Helper()
	s.Send(&c)
	return answer(t, s, false)
}

// answer returns the reply to a session's last command. If waits is true, the reply may be Blocked.
func answer(t *testing.T, s *databases.Session, waits bool) sql.Reply {
	t.Helper()
	ask := s.Answer
	if waits {
		ask = s.Reply
	}
	r, err := ask(t.Context(), patience)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
