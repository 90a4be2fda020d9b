//go:build !unix

package wire

// receive reads from the socket.
func (c *Conn) receive(b []byte) (int, error) { return c.receiveAny(b) }

// unread knows nothing of what was not taken from the socket.
func (c *Conn) unread() bool { return false }
