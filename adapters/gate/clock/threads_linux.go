package clock

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is what the system says of a process of the client. Its files stay open: they are read again and again.
type process struct {
	number  int32
	threads map[int32]*thread // by their numbers
}

// thread is one thread of it.
type thread struct {
	state   int // the file descriptor of its stat
	runs    int // that of its schedstat
	calls   int // that of its syscall; -1 where the system does not say
	counted ran // when it was counted last
	looked  ran // when its call was looked at last
}

// ran is how often a thread has run. One that waits until some time wakes every millisecond to look at the clock: of it, it is for
// what it waits.
type ran struct{ times, until, turn int64 }

// newProcess begins to watch a process.
func newProcess(number int32) *process {
	p := &process{number: number, threads: make(map[int32]*thread)}
	p.list()
	return p
}

// list takes threads in that are new, and forgets those that have ended. It reports whether there was neither.
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

// add begins to watch a thread, unless it has ended.
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

// close ends the watching.
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

// sleeps reports whether a thread of the process waits for something, or has ended.
func (p *process) sleeps(id int32) bool {
	t := p.threads[id]
	if t == nil {
		return true
	}
	var buf [512]byte
	n, err := unix.Pread(t.state, buf[:], 0)
	return err != nil || sleeps(buf[:n])
}

// sleeps reports whether a thread waits for something, by its stat: its name in brackets, and its state.
func sleeps(stat []byte) bool {
	state := stat[bytes.LastIndexByte(stat, ')')+1:]
	return len(state) > 1 && bytes.IndexByte([]byte("SZX"), state[1]) >= 0
}

// ran is how often the thread has run: the third number of its schedstat.
func (t *thread) ran(id int32, waits map[int32]row) ran {
	if r, is := waits[id]; is {
		return ran{until: r.Until, turn: r.Turn}
	}
	var buf [128]byte
	n, err := unix.Pread(t.runs, buf[:], 0)
	fields := bytes.Fields(buf[:max(0, n)])
	if err != nil || len(fields) == 0 { // it has ended
		return ran{times: -1}
	}
	times, _ := strconv.ParseInt(string(fields[len(fields)-1]), 10, 64)
	return ran{times: times}
}
