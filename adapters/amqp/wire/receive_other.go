//go:build !unix

package wire

import "syscall"

// receive reads from the socket.
func (c *Conn) receive(b []byte) (int, error) {
	if c.memory != nil {
		return c.receiveMemory(b)
	}
	return c.receiveAny(b)
}

// unread knows nothing of what was not taken from the socket.
func (c *Conn) unread() bool { return c.memory != nil && c.memory.in.unread() }

// offering leaves all to whoever waits for the socket.
func offering(syscall.RawConn) func([]byte) int { return nil }
