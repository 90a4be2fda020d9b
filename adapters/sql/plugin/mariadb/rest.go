package mariadb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

// The server has a thread for each connection. One that another has woken goes on by itself. One that waits goes to sleep again and
// again, to look at the time: see adapters/gate/clock. The system counts how often. If somebody who was not woken has done so a few
// times since, and is said to wait still, nobody has woken it.

// errBusy is the error of a server whose threads do not come to rest.
var errBusy = errors.New("our MariaDB server does not come to rest")

const (
	// restEvery is how often is asked whether all are at rest.
	restEvery = 200 * time.Microsecond
	// enoughSleeps is how often a thread goes to sleep again before it is taken to be woken by nobody: once more than one that was
	// woken may, for want of a mutex.
	enoughSleeps = 3
)

// thread is a connection's thread.
type thread struct {
	host    string
	id      string
	task    string // the system's number
	command string
	state   string
}

// waits reports whether it waits for a lock of a name or of a table, or sleeps.
func (t *thread) waits() bool {
	return t.state == "User lock" || t.state == "User sleep" || strings.HasPrefix(t.state, "Waiting for ")
}

// threads are those of clients.
func (i *instance) threads() (all []thread, err error) {
	rows, err := i.Query(`SELECT HOST, ID, TID, COMMAND, COALESCE(STATE, '') FROM information_schema.PROCESSLIST
WHERE HOST LIKE '127.0.0.1:%' AND ID <> CONNECTION_ID()`)
	for _, r := range rows {
		all = append(all, thread{r[0], r[1], r[2], r[3], r[4]})
	}
	return all, err
}

// inRows are the connections, by number, that wait for a lock of a row. The table that has them is as old as time, which stands still.
func (i *instance) inRows() (map[string]bool, error) {
	rows, err := i.Query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
	if err != nil || len(rows) == 0 || rows[0][1] == "0" {
		return nil, err
	}
	rows, err = i.Query("SHOW ENGINE INNODB STATUS")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return waiting(rows[0][2]), nil
}

// waiting are the connections that wait, by InnoDB's account of its transactions.
func waiting(status string) map[string]bool {
	all := make(map[string]bool)
	_, status, _ = strings.Cut(status, "LIST OF TRANSACTIONS FOR EACH SESSION")
	for i, transaction := range strings.Split(status, "---TRANSACTION ") {
		_, rest, ok := strings.Cut(transaction, "MariaDB thread id ")
		if id, _, _ := strings.Cut(rest, ","); i > 0 && ok && strings.Contains(transaction, "LOCK WAIT ") {
			all[id] = true
		}
	}
	return all
}

// Waits reports whether a connection waits for a lock, or sleeps.
func (i *instance) Waits(id int64) (bool, error) {
	all, err := i.threads()
	if err != nil {
		return false, err
	}
	for _, t := range all {
		switch {
		case t.host != "127.0.0.1:"+strconv.FormatInt(id, 10):
		case t.waits():
			return true, nil
		case t.command != "Sleep":
			rows, err := i.inRows()
			return rows[t.id], err
		}
	}
	return false, nil
}

// Barrier returns once every connection waits for its client, or for a lock.
func (i *instance) Barrier() error {
	slept := make(map[string]*counted)
	for late := time.Now().Add(process.AnswerLimit); time.Now().Before(late); time.Sleep(restEvery) {
		all, err := i.threads()
		if err != nil {
			return err
		}
		rows, err := i.inRows()
		if err != nil {
			return err
		}
		if i.rest(all, rows, slept) {
			return nil
		}
	}
	return errBusy
}

// counted is how often a thread that waits had gone to sleep when it was seen first, and last.
type counted struct{ first, last int }

// rest reports whether all threads are at rest. slept is kept from one question to the next, for the same: what was counted before the
// question counts.
func (i *instance) rest(all []thread, inRows map[string]bool, slept map[string]*counted) bool {
	rest := true
	for _, t := range all {
		switch {
		case t.waits() || inRows[t.id]:
			now := i.sleeps(t.task)
			c := slept[t.task]
			if c == nil {
				c = &counted{now, now}
				slept[t.task] = c
			}
			rest = rest && c.last-c.first >= enoughSleeps
			c.last = now
		case t.command == "Sleep" || t.command == "Connect":
		default:
			rest = false
		}
	}
	return rest
}

// sleeps is how often a thread has gone to sleep.
func (i *instance) sleeps(task string) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", i.Process.ID(), task))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("\nvoluntary_ctxt_switches:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line))) // it is a number
	return n
}

// Advance lets milliseconds pass.
func (i *instance) Advance(ms int64) error {
	if err := i.Clock.Advance(ms); err != nil {
		return err
	}
	return i.Barrier()
}
