package clock

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// timeouts maps the number of each system call that waits to the index of its timeout argument. -1 is for a call that always
// has a timeout.
var timeouts = map[int64]int{
	unix.SYS_FUTEX: 3, unix.SYS_EPOLL_PWAIT2: 3, unix.SYS_PPOLL: 2, unix.SYS_PSELECT6: 4, unix.SYS_RT_SIGTIMEDWAIT: 2,
	unix.SYS_EPOLL_PWAIT: 3, unix.SYS_NANOSLEEP: -1, unix.SYS_CLOCK_NANOSLEEP: -1,
}

// endless reports whether a waiting thread waits without a timeout. call is the thread's /proc entry "syscall": the
// number and arguments of its system call, or "running".
func endless(call []byte) bool {
	fields := bytes.Fields(call)
	if len(fields) == 0 {
		return true
	}
	number, err := strconv.ParseInt(string(fields[0]), 10, 64)
	at, waits := timeouts[number]
	switch {
	case err != nil || !waits:
		return true
	case at < 0 || len(fields) < at+2:
		return at >= 0
	}
	argument, err := strconv.ParseUint(string(fields[at+1]), 0, 64)
	if number == unix.SYS_EPOLL_PWAIT { // the timeout of epoll_pwait is in milliseconds, not a pointer
		return err != nil || int32(argument) < 0
	}
	return err != nil || argument == 0
}

// byMachine reports whether a thread sleeps until a time of the machine's clock, so that it has bypassed the C
// library. waits are the threads that sleep until a virtual time.
func (c *Client) byMachine(waits map[int32]row) bool {
	for _, p := range c.processes {
		for id, t := range p.threads {
			if _, ours := waits[id]; ours || t.looked == t.counted {
				continue
			}
			if t.looked = t.counted; !endless(t.call()) {
				return true
			}
		}
	}
	return false
}

// call returns the thread's system call as /proc shows it; nil if the system does not show it.
func (t *thread) call() []byte {
	var buf [256]byte
	n, err := unix.Pread(t.calls, buf[:], 0)
	if err != nil {
		return nil
	}
	return buf[:n]
}
