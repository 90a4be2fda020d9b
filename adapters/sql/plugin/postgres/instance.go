package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/clock"
	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin"
)

// instance is one server, with a clock of its own.
type instance struct {
	process *process.Process
	copied  bool // its files are the template's
	clock   *clock.Clock
	control atomic.Pointer[control] // another one after a restart, while others may ask
}

var _ plugin.Database = (*instance)(nil)

// Open starts so many servers, each with a clock of ours.
func Open(servers int) (gate.Server, error) {
	return plugin.Open(servers, func() (plugin.Database, error) { return start(true) })
}

// Stock starts a server as it is, which has the machine's clock.
func Stock() (process.Stock, error) { return start(false) }

// start starts a server, with a clock of ours or without.
func start(clocked bool) (_ *instance, err error) {
	i := new(instance)
	if i.process, err = newProcess(); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if err = template.Copy(ctx, i.process); err == nil {
		i.copied = true
	}
	if err == nil && clocked {
		i.clock, err = i.process.Clock(ctx)
	}
	if err == nil {
		err = i.boot(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// Port is where the server listens.
func (i *instance) Port() int { return i.process.Port }

// boot starts the process, and connects to it.
func (i *instance) boot(ctx context.Context) error {
	path, err := program("postgres")
	if err != nil {
		return err
	}
	answers := func() (err error) {
		control, err := connect(i.process.Port)
		if err == nil {
			i.control.Store(control)
		}
		return err
	}
	return i.process.Start(ctx, answers, environment(i.clock.Environment()), path, arguments(i.process)...)
}

// Restart stops the server and starts it again, with everything that was committed.
func (i *instance) Restart(ctx context.Context) error {
	_ = i.control.Load().close() // it ends anyway
	i.process.End(syscall.SIGINT)
	return i.boot(ctx)
}

// Close ends the server and removes its files.
func (i *instance) Close() error {
	var errs []error
	if control := i.control.Load(); control != nil {
		errs = append(errs, control.close())
	}
	errs = append(errs, i.clock.Close())
	i.process.End(syscall.SIGQUIT) // so that no process of the server outlives it
	errs = append(errs, i.process.Remove())
	if i.copied {
		errs = append(errs, template.Drop())
	}
	return errors.Join(errs...)
}

// Protocol is how clients talk to it.
func (*instance) Protocol() stream.Protocol { return protocol{} }

// URL is where clients find it at an address.
func (*instance) URL(host string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", database, host, database)
}

// Dial connects a client. The connection's number is its port: the server's own comes only when the client has said who it is.
func (i *instance) Dial() (net.Conn, int64, error) {
	conn, err := dial(i.process.Port)
	if err != nil {
		return nil, 0, err
	}
	return conn, int64(conn.LocalAddr().(*net.TCPAddr).Port), nil
}

// Waits reports whether a connection waits for a lock, or sleeps.
func (i *instance) Waits(id int64) (bool, error) {
	rows, err := i.control.Load().query("SELECT pid FROM pg_stat_activity WHERE (wait_event_type = 'Lock' OR wait_event = 'PgSleep') AND client_port = " + strconv.FormatInt(id, 10))
	return len(rows) > 0, err
}

// goneEvery is how often is asked whether a connection is gone.
const goneEvery = 200 * time.Microsecond

// errStays is the error of a server that does not end a connection.
var errStays = errors.New("our PostgreSQL server does not end a connection")

// Kill ends a connection. When it returns, the server has released what it had.
func (i *instance) Kill(id int64) error {
	end := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND client_port = " + strconv.FormatInt(id, 10)
	for late := time.Now().Add(answerLimit); time.Now().Before(late); time.Sleep(goneEvery) {
		if rows, err := i.control.Load().query(end); len(rows) == 0 {
			return err
		}
	}
	return errStays
}

// held is what advisory locks are called, which belong to no row.
const held = "advisory locks"

// counted are the tables whose rows can be counted: a transaction that changes one keeps others from it.
const counted = `SELECT quote_literal(c.oid::regclass), c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.relation = c.oid AND l.mode = 'AccessExclusiveLock')`

// Amounts are how many rows each table has, and how many advisory locks are held.
func (i *instance) Amounts() (map[string]int, error) {
	tables, err := i.control.Load().query(counted)
	if err != nil {
		return nil, err
	}
	ask := []string{"SELECT '" + held + "', count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"}
	for _, t := range tables {
		ask = append(ask, fmt.Sprintf("SELECT %s, count(*) FROM %s", t[0], t[1]))
	}
	rows, err := i.control.Load().query(strings.Join(ask, " UNION ALL "))
	all := make(map[string]int)
	for _, r := range rows {
		all[r[0]], _ = strconv.Atoi(r[1]) // it is a number
	}
	return all, err
}

// Drop deletes tables.
func (i *instance) Drop(tables []string) error {
	_, err := i.control.Load().query("DROP TABLE IF EXISTS " + strings.Join(tables, ", ") + " CASCADE")
	return err
}
