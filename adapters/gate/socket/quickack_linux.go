package socket

import "syscall"

// quickAck has the kernel acknowledge what has come at once. A driver that leaves Nagle's algorithm on, and
// writes a message in two pieces, waits with the second until the first is acknowledged: 40 milliseconds, where
// nothing is on its way back. The kernel forgets that it was told so, time and again.
func quickAck(socket syscall.RawConn) {
	if socket != nil {
		_ = socket.Control(func(fd uintptr) { // without it, it is but slower
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
		})
	}
}
