package mariadb

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
	path, err := program("mariadbd")
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
	if err := i.process.Start(ctx, answers, i.clock.Environment(), path, arguments(i.process)...); err != nil {
		return err
	}
	_, err = i.control.Load().query("SET lock_wait_timeout = 0") // a table that a client has locked is not waited for
	return err
}

// Restart stops the server and starts it again, with everything that was committed.
func (i *instance) Restart(ctx context.Context) error {
	_ = i.control.Load().close() // it ends anyway
	i.process.End(syscall.SIGTERM)
	return i.boot(ctx)
}

// Close ends the server and removes its files.
func (i *instance) Close() error {
	var errs []error
	if control := i.control.Load(); control != nil {
		errs = append(errs, control.close())
	}
	errs = append(errs, i.clock.Close())
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
	return fmt.Sprintf("mysql://%s@%s/%s", database, host, database)
}

// Dial connects a client. The connection's number is its port: the server's own is not known to us.
func (i *instance) Dial() (net.Conn, int64, error) {
	conn, err := dial(i.process.Port)
	if err != nil {
		return nil, 0, err
	}
	return conn, int64(conn.LocalAddr().(*net.TCPAddr).Port), nil
}

// goneEvery is how often is asked whether a connection is gone.
const goneEvery = 200 * time.Microsecond

// errStays is the error of a server that does not end a connection.
var errStays = errors.New("our MariaDB server does not end a connection")

// Kill ends a connection. When it returns, the server has released what it had.
func (i *instance) Kill(id int64) error {
	ask := fmt.Sprintf("SELECT ID FROM information_schema.PROCESSLIST WHERE HOST = '127.0.0.1:%d'", id)
	for late := time.Now().Add(answerLimit); time.Now().Before(late); time.Sleep(goneEvery) {
		rows, err := i.control.Load().query(ask)
		if len(rows) == 0 {
			return err
		}
		if _, err := i.control.Load().query("KILL CONNECTION " + rows[0][0]); err != nil && !errors.Is(err, errRefused) {
			return err
		}
	}
	return errStays
}

// Amounts are how many rows each table has that nobody has locked.
func (i *instance) Amounts() (map[string]int, error) {
	tables, err := i.control.Load().query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = '" + database + "'")
	all := make(map[string]int)
	for _, t := range tables {
		rows, err := i.control.Load().query("SELECT count(*) FROM " + quoted(t[0]))
		if errors.Is(err, errRefused) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all[t[0]], _ = strconv.Atoi(rows[0][0]) // it is a number
	}
	return all, err
}

// quoted is a table's name in a statement.
func quoted(table string) string {
	return database + ".`" + strings.ReplaceAll(table, "`", "``") + "`"
}

// Drop deletes tables.
func (i *instance) Drop(tables []string) error {
	var names []string
	for _, t := range tables {
		names = append(names, quoted(t))
	}
	_, err := i.control.Load().query("DROP TABLE IF EXISTS " + strings.Join(names, ", "))
	return err
}
