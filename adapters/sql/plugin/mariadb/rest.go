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

// The server has a thread for each connection. A thread that another has woken continues without a command. A thread that
// waits wakes up again and again to look at the time (see adapters/gate/clock), and goes back to sleep. The operating system
// counts how often. A thread that has gone back to sleep a few times, and that the server still reports as waiting, has not
// been woken by another thread.

// errBusy is the error if the server's threads do not come to rest in time.
var errBusy = errors.New("our MariaDB server does not come to rest")

const (
	// restEvery is the time between two checks whether all threads are at rest.
	restEvery = 200 * time.Microsecond
	// enoughSleeps is the number of times that a thread has to go back to sleep before it counts as not woken. One would not
	// be enough: a thread that was woken may go to sleep once more to wait for a mutex.
	enoughSleeps = 3
)

// thread is the server's thread for one client's connection.
type thread struct {
	host    string
	id      string
	task    string // the operating system's number for the thread
	command string
	state   string
}

// waits reports whether the thread waits for a named lock or for a table, or sleeps.
func (t *thread) waits() bool {
	return t.state == "User lock" || t.state == "User sleep" || strings.HasPrefix(t.state, "Waiting for ")
}

// threads returns the server's threads for clients' connections.
func (i *instance) threads() (all []thread, err error) {
	rows, err := i.Query(`SELECT HOST, ID, TID, COMMAND, COALESCE(STATE, '') FROM information_schema.PROCESSLIST
WHERE HOST LIKE '127.0.0.1:%' AND ID <> CONNECTION_ID()`)
	for _, r := range rows {
		all = append(all, thread{r[0], r[1], r[2], r[3], r[4]})
	}
	return all, err
}

// inRows returns the numbers of the connections that wait for the lock of a row. It reads InnoDB's status: the table of
// information_schema that lists them is refreshed by the clock, which stands still.
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

// waiting returns the numbers of the connections that wait, according to the list of transactions in InnoDB's status.
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

// Barrier returns once every connection waits for its client or for a lock, or sleeps.
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

// counted holds how often a waiting thread had gone to sleep, when it was first seen and when it was last seen.
type counted struct{ first, last int }

// rest reports whether all of the given threads are at rest. slept holds the counts of earlier calls, by thread, and
// is updated. The counts were taken before the threads were listed. So if a count has not changed, the list's state
// of the thread is still true.
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

// sleeps returns how often a thread has gone to sleep.
func (i *instance) sleeps(task string) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", i.Process.ID(), task))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("\nvoluntary_ctxt_switches:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line))) // it is always a number
	return n
}

// Advance lets ms milliseconds of virtual time pass.
func (i *instance) Advance(ms int64) error {
	if err := i.Clock.Advance(ms); err != nil {
		return err
	}
	return i.Barrier()
}
