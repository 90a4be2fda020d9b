package socket

import "golang.org/x/sys/unix"

// Unreceived reports whether the client's system has not yet acknowledged all data that was sent to it.
func (r *Reader) Unreceived() bool {
	n := 0
	if r.raw != nil {
		_ = r.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
	return n > 0
}
