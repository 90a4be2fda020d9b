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

// The server has a process for each connection. A process that is woken, because another has released a lock or because its
// time is up, continues without a command. The operating system counts how often a process has gone to sleep. If a process
// sleeps before and after we ask the server, and the count is the same, the server's answer about this process is still
// true.

// errBusy is the error if the server's processes do not come to rest in time.
var errBusy = errors.New("our PostgreSQL server does not come to rest")

// restEvery is the time between two checks whether all processes are at rest.
const restEvery = 100 * time.Microsecond

// Barrier returns once every connection waits for its client or for a lock, or sleeps.
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

// activity returns the processes that serve clients, and whether one of them is busy.
func (i *instance) activity() (busy bool, pids []int, err error) {
	rows, err := i.Query(`SELECT pid, wait_event_type IN ('Lock', 'Client') OR wait_event = 'PgSleep' FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid`)
	for _, r := range rows {
		pid, _ := strconv.Atoi(r[0]) // it is always a number
		pids = append(pids, pid)
		busy = busy || r[1] != "t"
	}
	return busy, pids, err
}

// sleeps returns, for each process, how often it has gone to sleep. It returns nil if a process does not sleep.
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

// Advance lets milliseconds pass. Each process gets the signal of a timer, so that it checks whether its own timers are
// over.
func (i *instance) Advance(ms int64) error {
	if err := i.Clock.Advance(ms); err != nil {
		return err
	}
	_, pids, err := i.activity()
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Signal(syscall.SIGALRM) // the process may have ended
		}
	}
	if err != nil || len(pids) == 0 {
		return err
	}
	return i.Barrier()
}
