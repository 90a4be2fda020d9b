package mariadb

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

// mariaDB says how to start a server, and how to ask it.
var mariaDB = &plugin.Kind{
	Name: "MariaDB", Program: func() (string, error) { return program("mariadbd") }, Template: &template, Arguments: arguments,
	Stop:  syscall.SIGTERM,
	Setup: "SET lock_wait_timeout = 0", // do not wait for a table that a client has locked
	Greet: greet, Ask: ask, Answer: readRows,
}

// start starts a server, with a virtual clock if clocked is true.
func start(clocked bool) (*instance, error) {
	i, err := mariaDB.Start(clocked)
	if err != nil {
		return nil, err
	}
	return &instance{i}, nil
}

// Protocol returns the protocol between MariaDB and its clients.
func (*instance) Protocol() stream.Protocol { return protocol{} }

// URL returns the address for clients, given a host and port.
func (*instance) URL(host string) string {
	return fmt.Sprintf("mysql://%s@%s/%s", database, host, database)
}

// goneEvery is the time between two checks whether the server still has a connection.
const goneEvery = 200 * time.Microsecond

// errStays is the error if the server does not end a connection.
var errStays = errors.New("our MariaDB server does not end a connection")

// Kill ends a connection. When Kill returns, the server has released what the connection held.
func (i *instance) Kill(id int64) error {
	ask := fmt.Sprintf("SELECT ID FROM information_schema.PROCESSLIST WHERE HOST = '127.0.0.1:%d'", id)
	for late := time.Now().Add(process.AnswerLimit); time.Now().Before(late); time.Sleep(goneEvery) {
		rows, err := i.Query(ask)
		if len(rows) == 0 {
			return err
		}
		if _, err := i.Query("KILL CONNECTION " + rows[0][0]); err != nil && !errors.Is(err, errRefused) {
			return err
		}
	}
	return errStays
}

// Amounts returns the number of rows of each table. Tables that a client has locked are left out.
func (i *instance) Amounts() (map[string]int, error) {
	tables, err := i.Query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = '" + database + "'")
	all := make(map[string]int)
	for _, t := range tables {
		rows, err := i.Query("SELECT count(*) FROM " + quoted(t[0]))
		if errors.Is(err, errRefused) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all[t[0]], _ = strconv.Atoi(rows[0][0]) // it is always a number
	}
	return all, err
}

// quoted returns a table's name, quoted for a statement.
func quoted(table string) string {
	return database + ".`" + strings.ReplaceAll(table, "`", "``") + "`"
}

// Drop deletes the given tables.
func (i *instance) Drop(tables []string) error {
	var names []string
	for _, t := range tables {
		names = append(names, quoted(t))
	}
	_, err := i.Query("DROP TABLE IF EXISTS " + strings.Join(names, ", "))
	return err
}
