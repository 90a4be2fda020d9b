package postgres

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin"
)

// instance is one server, with a clock of its own.
type instance struct{ *plugin.Instance }

var _ plugin.Database = (*instance)(nil)

// Open starts so many servers, each with a clock of ours.
func Open(servers int) (gate.Server, error) {
	return plugin.Open(servers, func() (plugin.Database, error) { return start(true) })
}

// Stock starts a server as it is, which has the machine's clock.
func Stock() (process.Stock, error) { return start(false) }

// postgreSQL is how a server is started and asked.
var postgreSQL = &plugin.Kind{
	Name: "PostgreSQL", Program: func() (string, error) { return program("postgres") }, Template: &template, Arguments: arguments,
	Environment: []string{"PGDATA=", "TZ=UTC0"},        // nothing tells it where another server is
	Stop:        syscall.SIGINT, Quit: syscall.SIGQUIT, // so that no process of the server outlives it
	Greet: greet, Ask: ask, Answer: readRows,
}

// start starts a server, with a clock of ours or without.
func start(clocked bool) (*instance, error) {
	i, err := postgreSQL.Start(clocked)
	if err != nil {
		return nil, err
	}
	return &instance{i}, nil
}

// Protocol is how clients talk to it.
func (*instance) Protocol() stream.Protocol { return protocol{} }

// URL is where clients find it at an address.
func (*instance) URL(host string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", database, host, database)
}

// Waits reports whether a connection waits for a lock, or sleeps.
func (i *instance) Waits(id int64) (bool, error) {
	rows, err := i.Query("SELECT pid FROM pg_stat_activity WHERE (wait_event_type = 'Lock' OR wait_event = 'PgSleep') AND client_port = " + strconv.FormatInt(id, 10))
	return len(rows) > 0, err
}

// goneEvery is how often is asked whether a connection is gone.
const goneEvery = 200 * time.Microsecond

// errStays is the error of a server that does not end a connection.
var errStays = errors.New("our PostgreSQL server does not end a connection")

// Kill ends a connection. When it returns, the server has released what it had.
func (i *instance) Kill(id int64) error {
	end := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND client_port = " + strconv.FormatInt(id, 10)
	for late := time.Now().Add(process.AnswerLimit); time.Now().Before(late); time.Sleep(goneEvery) {
		if rows, err := i.Query(end); len(rows) == 0 {
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
	tables, err := i.Query(counted)
	if err != nil {
		return nil, err
	}
	ask := []string{"SELECT '" + held + "', count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"}
	for _, t := range tables {
		ask = append(ask, fmt.Sprintf("SELECT %s, count(*) FROM %s", t[0], t[1]))
	}
	rows, err := i.Query(strings.Join(ask, " UNION ALL "))
	all := make(map[string]int)
	for _, r := range rows {
		all[r[0]], _ = strconv.Atoi(r[1]) // it is a number
	}
	return all, err
}

// Drop deletes tables.
func (i *instance) Drop(tables []string) error {
	_, err := i.Query("DROP TABLE IF EXISTS " + strings.Join(tables, ", ") + " CASCADE")
	return err
}
