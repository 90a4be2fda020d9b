//go:build !linux

package socket

import "syscall"

// quickAck does nothing: other systems have no such option, or need none.
func quickAck(syscall.RawConn) {}
