//go:build !linux

package socket

import "net"

// Listener takes connections.
type Listener struct{ net.Listener }

// Listen listens on a port of this machine.
func Listen() (*Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &Listener{l}, err
}

// Underway is false: it is not needed on systems without virtual time.
func (*Listener) Underway() bool { return false }
