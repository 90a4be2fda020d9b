package clock

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// timeouts are the system's calls that wait, and which argument of each says for how long; -1 is of one that always has an end.
var timeouts = map[int64]int{
	unix.SYS_FUTEX: 3, unix.SYS_EPOLL_PWAIT2: 3, unix.SYS_PPOLL: 2, unix.SYS_PSELECT6: 4, unix.SYS_RT_SIGTIMEDWAIT: 2,
	unix.SYS_EPOLL_PWAIT: 3, unix.SYS_NANOSLEEP: -1, unix.SYS_CLOCK_NANOSLEEP: -1,
}

// endless reports whether a thread that waits does so for as long as it takes, by what the system says of its call: the call's number
// and its arguments, or that it runs.
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
	if number == unix.SYS_EPOLL_PWAIT { // milliseconds, and not a place in memory
		return err != nil || int32(argument) < 0
	}
	return err != nil || argument == 0
}

// byMachine reports whether a thread sleeps until a time that is not ours: it has gone round the C library. waits are those that
// sleep until one of ours.
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

// call is the system's call in which the thread is, as the system says; nothing where it does not say.
func (t *thread) call() []byte {
	var buf [256]byte
	n, err := unix.Pread(t.calls, buf[:], 0)
	if err != nil {
		return nil
	}
	return buf[:n]
}
