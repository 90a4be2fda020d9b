package databases

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/histories/infile"
	model "github.com/lockproof/lockproof/model/sql"
)

// Variables are the environment variables that name the server of each dialect.
var Variables = [...]string{model.MariaDB: "LOCKPROOF_MYSQL_URL", model.Postgres: "LOCKPROOF_POSTGRES_URL"}

// usual is the address of a server with default settings, which lets root (MariaDB) or postgres (PostgreSQL) in without a
// password.
var usual = [...]string{model.MariaDB: "mysql://root@127.0.0.1:3306/", model.Postgres: "postgres://postgres@127.0.0.1:5432/postgres"}

// lookLimit is the maximum time for Find to find a server.
const lookLimit = 5 * time.Second

// greetLimit is the maximum time for a server to accept a connection and to tell its version.
const greetLimit = 20 * time.Second

// ErrMissing is wrapped in the error that Find returns if there is no server: no variable names one, and the usual address
// does not answer.
var ErrMissing = errors.New("no server")

// Server is a MariaDB or PostgreSQL server.
type Server struct {
	URL     string
	Dialect model.Dialect
	Version string
}

// Find finds and connects to a server of a dialect.
func Find(ctx context.Context, d model.Dialect) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	if named := os.Getenv(Variables[d]); named != "" {
		return At(ctx, named)
	}
	s, err := At(ctx, usual[d])
	if err != nil {
		return nil, fmt.Errorf("%w: start %v on %s, or name one in %s: %w", ErrMissing, d, redact(usual[d]), Variables[d], err)
	}
	return s, nil
}

// At connects to the server at the URL raw, and reads its version. The URL is mysql://user:password@host:port/database,
// where the database may be left out, or postgres://user:password@host:port/database.
func At(ctx context.Context, raw string) (*Server, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("database's address: %w", errors.New("not a URL"))
	}
	s := &Server{URL: raw}
	switch u.Scheme {
	case "mysql", "mariadb":
	case "postgres", "postgresql":
		s.Dialect = model.Postgres
	default:
		return nil, fmt.Errorf("database's address %s: expected mysql:// or postgres://", redact(raw))
	}
	db, err := s.open("", nil)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, greetLimit, fmt.Errorf("it did not say its version within %v: %w", greetLimit, bound.ErrServer))
	defer cancel()
	ctx, told := bound.Telling(ctx)
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&s.Version); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w", redact(raw), told(err))
	}
	if s.Dialect == model.MariaDB && !strings.Contains(s.Version, "MariaDB") {
		return nil, fmt.Errorf("%s calls itself %s; expected MariaDB: what MySQL does has not been measured", redact(raw), s.Version)
	}
	return s, nil
}

// redact returns the URL raw without its password.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the address"
	}
	return u.Redacted()
}

// String returns the server's name and version.
func (s *Server) String() string {
	if s.Dialect == model.Postgres {
		name, _, _ := strings.Cut(s.Version, " (")
		return name
	}
	number, _, _ := strings.Cut(s.Version, "-")
	return "MariaDB " + number
}

// checkFiles checks the files that pgx reads: those named in the address's query, and those named in the environment.
func checkFiles(query func(name string) string) error {
	certificates, others := []string{"sslcert", "sslkey", "sslrootcert"}, []string{"passfile", "servicefile"}
	err := errors.Join(infile.Certificate.CheckNamed(func(name string) string {
		if path := query(name); path != "system" { // "system" is no path: it means the operating system's certificates
			return path
		}
		return ""
	}, certificates...), infile.Credentials.CheckNamed(query, others...))
	for i := range certificates {
		certificates[i] = "PG" + strings.ToUpper(certificates[i])
	}
	return errors.Join(err, infile.Certificate.CheckNamed(os.Getenv, certificates...), infile.Credentials.CheckNamed(os.Getenv, "PGPASSFILE", "PGSERVICEFILE"))
}

// open opens a pool of connections. name is a database of MariaDB or a schema of PostgreSQL; "" is the one that the address
// names, if any. If l is not nil, the pool has a single connection, over l. If l is timed, commits are as durable as the
// server makes them.
func (s *Server) open(name string, l *line) (*sql.DB, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	if s.Dialect == model.Postgres {
		q := u.Query()
		if err := checkFiles(q.Get); err != nil {
			return nil, fmt.Errorf("database's address %s: %w", redact(s.URL), err)
		}
		q.Set("default_query_exec_mode", "simple_protocol")
		q.Set("search_path", "pg_catalog") // hides functions of other users
		if name != "" {
			q.Set("search_path", name+",pg_catalog")
			q.Set("application_name", name) // marks the sessions of this database
			if l == nil || !l.timed {
				q.Set("synchronous_commit", "off") // data need not survive a crash of the server
			}
		}
		u.RawQuery = q.Encode()
		c, err := pgx.ParseConfig(u.String())
		if err != nil {
			return nil, fmt.Errorf("database's address %s: %w", redact(s.URL), err)
		}
		if c.DialFunc = granted.Dial; l != nil {
			c.DialFunc = l.dial
		}
		return stdlib.OpenDB(*c), nil
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), cmp.Or(name, strings.TrimPrefix(u.Path, "/"))
	if u.Port() == "" {
		c.Addr += ":3306"
	}
	c.Passwd, _ = u.User.Password()
	c.Logger = &mysql.NopLogger{} // the driver's own logger would print that connections were cut
	c.ClientFoundRows = true      // count matched rows, not only changed ones, as PostgreSQL does
	if c.DialFunc = bounded(s.Dialect, granted.Dial); l != nil {
		c.DialFunc = bounded(s.Dialect, l.dial)
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
