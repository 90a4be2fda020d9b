package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/redis"
	"github.com/lockproof/lockproof/adapters/sqlserver"
	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/sql"
)

// replayer is a real server that takes traces.
type replayer interface {
	Replay(context.Context, *scenario.Trace) (*scenario.Replayed, error)
}

// kindOfServer is what --on says of the servers of a backend.
type kindOfServer struct {
	title   string
	names   []string // for one that is found
	schemes []string
	usual   string // an address
	// find finds the server at an address, or, where that is "", one that the environment names or that is where they usually are.
	find func(ctx context.Context, url string) (replayer, func() error, error)
}

// servers are the real ones on which traces of locks are carried out that stand on something else than RabbitMQ.
var servers = map[string]kindOfServer{
	"redis":    {"Redis", []string{"redis"}, []string{"redis", "rediss"}, "redis://127.0.0.1:6379/0", findRedis},
	"mariadb":  {"MariaDB", []string{"mariadb", "mysql"}, []string{"mysql", "mariadb"}, "mysql://root@127.0.0.1:3306/", replaysOn(sql.MariaDB)},
	"postgres": {"PostgreSQL", []string{"postgres", "postgresql"}, []string{"postgres", "postgresql"}, "postgres://postgres@127.0.0.1:5432/postgres", replaysOn(sql.Postgres)},
}

func findRedis(ctx context.Context, url string) (replayer, func() error, error) {
	s, err := redis.Find(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// findDatabase finds a database at an address, or, without one, where it usually is.
func findDatabase(ctx context.Context, d sql.Dialect, url string) (*sqlserver.Server, error) {
	if url == "" {
		return sqlserver.Find(ctx, d)
	}
	return sqlserver.At(ctx, url)
}

func replaysOn(d sql.Dialect) func(context.Context, string) (replayer, func() error, error) {
	return func(ctx context.Context, url string) (replayer, func() error, error) {
		s, err := findDatabase(ctx, d, url)
		return s, func() error { return nil }, err
	}
}

// address is the one that --on has, "" for a server that is to be found.
func (k *kindOfServer) address(target, on string) (string, error) {
	if slices.Contains(k.names, on) {
		return "", nil
	}
	if scheme, _, ok := strings.Cut(on, "://"); ok && slices.Contains(k.schemes, scheme) {
		return on, nil
	}
	return "", fmt.Errorf("%s stands on %s: expected --on %s or an address such as %s", target, k.title, k.names[0], k.usual)
}

// replayOn carries out a counterexample on a real server of its kind, and says how that compares.
func replayOn(c *cobra.Command, kind kindOfServer, on *onFlags, w io.Writer, r *engine.Replayed) error {
	asked := on.on
	if on.broker != "" {
		asked = on.broker
	}
	url, err := kind.address(r.Target.Name, asked)
	if err != nil {
		return err
	}
	server, stop, err := kind.find(c.Context(), url)
	if err != nil {
		return err
	}
	atEnd(c, stop)
	real, err := server.Replay(c.Context(), r.Trace)
	if err != nil {
		return err
	}
	r.Server = real.Server
	fmt.Fprintln(safetext.NewWriter(w), real)
	switch {
	case real.Skipped != "":
		return fmt.Errorf("replaying on %s: skipped: %s", real.Server, real.Skipped)
	case r.Violation == nil || !real.Reproduces(*r.Violation):
		return nil
	}
	fmt.Fprintf(w, "%s: reproduced: %s\n", r.Violation.Property, safetext.Escape(r.Violation.Explain()))
	return errViolated
}
