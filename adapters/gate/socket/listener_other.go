//go:build !linux

package socket

import "net"

// Listener accepts connections.
type Listener struct{ net.Listener }

// Listen listens on a port of this machine.
func Listen() (*Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &Listener{l}, err
}

// Underway returns false. It is needed only with virtual time, which this system does not support.
func (*Listener) Underway() bool { return false }
