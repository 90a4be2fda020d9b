//go:build !linux

package socket

import "syscall"

// quickAck does nothing: other systems have no such option, or do not need it.
func quickAck(syscall.RawConn) {}
