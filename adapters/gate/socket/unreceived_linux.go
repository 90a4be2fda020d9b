package socket

import "golang.org/x/sys/unix"

// Unreceived reports whether the other end has data yet to acknowledge.
func (r *Reader) Unreceived() bool {
	n := 0
	if r.raw != nil {
		_ = r.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
	return n > 0
}
