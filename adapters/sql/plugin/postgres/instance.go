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

// instance is one server that lockproof started, with a virtual clock or the machine's clock.
type instance struct{ *plugin.Instance }

var _ plugin.Database = (*instance)(nil)

// Open starts the given number of servers, each with a virtual clock.
func Open(servers int) (gate.Server, error) {
	return plugin.Open(servers, func() (plugin.Database, error) { return start(true) })
}

// Stock starts an unmodified server, which has the machine's clock.
func Stock() (process.Stock, error) { return start(false) }

// postgreSQL says how to start a server, and how to ask it.
var postgreSQL = &plugin.Kind{
	Name: "PostgreSQL", Program: func() (string, error) { return program("postgres") }, Template: &template, Arguments: arguments,
	Environment: []string{"PGDATA=", "TZ=UTC0"},        // so that no variable of the environment names another server
	Stop:        syscall.SIGINT, Quit: syscall.SIGQUIT, // both signals end all processes of the server
	Greet: greet, Ask: ask, Answer: readRows,
}

// start starts a server, with a virtual clock if clocked is true.
func start(clocked bool) (*instance, error) {
	i, err := postgreSQL.Start(clocked)
	if err != nil {
		return nil, err
	}
	return &instance{i}, nil
}

// Protocol returns the protocol between PostgreSQL and its clients.
func (*instance) Protocol() stream.Protocol { return protocol{} }

// URL returns the address for clients, given a host and port.
func (*instance) URL(host string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", database, host, database)
}

// Waits reports whether a connection waits for a lock, or sleeps.
func (i *instance) Waits(id int64) (bool, error) {
	rows, err := i.Query("SELECT pid FROM pg_stat_activity WHERE (wait_event_type = 'Lock' OR wait_event = 'PgSleep') AND client_port = " + strconv.FormatInt(id, 10))
	return len(rows) > 0, err
}

// goneEvery is the time between two checks whether the server still has a connection.
const goneEvery = 200 * time.Microsecond

// errStays is the error if the server does not end a connection.
var errStays = errors.New("our PostgreSQL server does not end a connection")

// Kill ends a connection. When Kill returns, the server has released what the connection held.
func (i *instance) Kill(id int64) error {
	end := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND client_port = " + strconv.FormatInt(id, 10)
	for late := time.Now().Add(process.AnswerLimit); time.Now().Before(late); time.Sleep(goneEvery) {
		if rows, err := i.Query(end); len(rows) == 0 {
			return err
		}
	}
	return errStays
}

// held is the name of the item that counts the advisory locks.
const held = "advisory locks"

// counted selects the tables whose rows can be counted: all but those that a transaction has locked exclusively.
const counted = `SELECT quote_literal(c.oid::regclass), c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.relation = c.oid AND l.mode = 'AccessExclusiveLock')`

// Amounts returns the number of rows of each table, and the number of advisory locks that are held.
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
		all[r[0]], _ = strconv.Atoi(r[1]) // it is always a number
	}
	return all, err
}

// Drop deletes the given tables.
func (i *instance) Drop(tables []string) error {
	_, err := i.Query("DROP TABLE IF EXISTS " + strings.Join(tables, ", ") + " CASCADE")
	return err
}
