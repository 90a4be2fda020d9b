package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/process"
)

// The server has a process for each connection. One that is woken, because another has released a lock or because its time is up,
// goes on by itself. The system counts how often a process has gone to sleep: one that slept before we asked the server and still
// sleeps the same sleep afterwards is what the server says it is.

// errBusy is the error of a server whose processes do not come to rest.
var errBusy = errors.New("our PostgreSQL server does not come to rest")

// restEvery is how often is asked whether all are at rest.
const restEvery = 100 * time.Microsecond

// Barrier returns once every connection waits for its client, or for a lock.
func (i *instance) Barrier() error {
	var pids []int
	for late := time.Now().Add(process.AnswerLimit); time.Now().Before(late); time.Sleep(restEvery) {
		before := sleeps(pids)
		busy, now, err := i.activity()
		if err != nil {
			return err
		}
		if !busy && slices.Equal(pids, now) && before != nil && maps.Equal(before, sleeps(pids)) {
			return nil
		}
		pids = now
	}
	return errBusy
}

// activity asks which processes serve clients, and whether one of them does something.
func (i *instance) activity() (busy bool, pids []int, err error) {
	rows, err := i.Query(`SELECT pid, wait_event_type IN ('Lock', 'Client') OR wait_event = 'PgSleep' FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid`)
	for _, r := range rows {
		pid, _ := strconv.Atoi(r[0]) // it is a number
		pids = append(pids, pid)
		busy = busy || r[1] != "t"
	}
	return busy, pids, err
}

// sleeps are how often each process has gone to sleep, if all sleep; nil otherwise.
func sleeps(pids []int) map[int]string {
	all := make(map[int]string)
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || !bytes.Contains(b, []byte("\nState:\tS")) {
			return nil
		}
		_, after, _ := bytes.Cut(b, []byte("voluntary_ctxt_switches:"))
		all[pid] = string(after)
	}
	return all
}

// Advance lets milliseconds pass. Processes whose timers may be over look at the time, as at the signal of a timer.
func (i *instance) Advance(ms int64) error {
	if err := i.Clock.Advance(ms); err != nil {
		return err
	}
	_, pids, err := i.activity()
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Signal(syscall.SIGALRM) // it may have ended
		}
	}
	if err != nil || len(pids) == 0 {
		return err
	}
	return i.Barrier()
}
