package clock

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is what the system reports about a process of the client. Its files stay open, as they are read repeatedly.
type process struct {
	number  int32
	threads map[int32]*thread // threads of the process, by thread number
}

// thread holds the open files with which one thread of a process is watched.
type thread struct {
	state   int // file descriptor of /proc/…/stat
	runs    int // file descriptor of /proc/…/schedstat
	calls   int // file descriptor of /proc/…/syscall; -1 if the system does not have it
	counted ran // how often the thread had run at the last call of count
	looked  ran // how often the thread had run when its system call was last read
}

// ran is a value that changes when a thread runs: times is how often it has run. A thread that waits until a virtual
// time wakes every millisecond only to read the clock, which does not count. For such a thread, times is 0; until is
// the time that it waits for, and turn is how often it has begun to wait.
type ran struct{ times, until, turn int64 }

// newProcess starts watching the process with the given number.
func newProcess(number int32) *process {
	p := &process{number: number, threads: make(map[int32]*thread)}
	p.list()
	return p
}

// list adds new threads, and forgets those that have ended. It reports whether there was no change.
func (p *process) list() (known bool) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.number))
	if err != nil { // the process has ended
		known = len(p.threads) == 0
		p.close()
		return known
	}
	there := make(map[int32]bool, len(entries))
	known = true
	for _, e := range entries {
		n, _ := strconv.Atoi(e.Name())
		there[int32(n)] = true
		if p.threads[int32(n)] == nil {
			known = false
			p.add(int32(n))
		}
	}
	for id, t := range p.threads {
		if !there[id] {
			known = false
			t.close()
			delete(p.threads, id)
		}
	}
	return known
}

// add starts watching a thread, unless the thread has ended.
func (p *process) add(id int32) {
	state, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/stat", p.number, id), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	runs, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", p.number, id), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(state)
		return
	}
	calls, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/syscall", p.number, id), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		calls = -1
	}
	p.threads[id] = &thread{state: state, runs: runs, calls: calls}
}

// close stops watching the process and closes its files.
func (p *process) close() {
	for id, t := range p.threads {
		t.close()
		delete(p.threads, id)
	}
}

func (t *thread) close() {
	_ = unix.Close(t.state)
	_ = unix.Close(t.runs)
	if t.calls >= 0 {
		_ = unix.Close(t.calls)
	}
}

// sleeps reports whether thread id of the process waits for something, or has ended.
func (p *process) sleeps(id int32) bool {
	t := p.threads[id]
	if t == nil {
		return true
	}
	var buf [512]byte
	n, err := unix.Pread(t.state, buf[:], 0)
	return err != nil || sleeps(buf[:n])
}

// sleeps reports whether a thread waits for something. stat is the content of its stat file: the thread's name in
// brackets, then its state.
func sleeps(stat []byte) bool {
	state := stat[bytes.LastIndexByte(stat, ')')+1:]
	return len(state) > 1 && bytes.IndexByte([]byte("SZX"), state[1]) >= 0
}

// ran returns how often the thread has run: the third number of its schedstat file.
func (t *thread) ran(id int32, waits map[int32]row) ran {
	if r, is := waits[id]; is {
		return ran{until: r.Until, turn: r.Turn}
	}
	var buf [128]byte
	n, err := unix.Pread(t.runs, buf[:], 0)
	fields := bytes.Fields(buf[:max(0, n)])
	if err != nil || len(fields) == 0 { // the thread has ended
		return ran{times: -1}
	}
	times, _ := strconv.ParseInt(string(fields[len(fields)-1]), 10, 64)
	return ran{times: times}
}
