package socket

import "syscall"

// quickAck makes the kernel acknowledge received data at once. A driver that leaves Nagle's algorithm on and writes a
// message in two pieces delays the second piece until the first is acknowledged: 40 milliseconds, if no data goes the other
// way. The kernel forgets the option repeatedly.
func quickAck(socket syscall.RawConn) {
	if socket != nil {
		_ = socket.Control(func(fd uintptr) { // after an error, the connection is only slower
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
		})
	}
}
