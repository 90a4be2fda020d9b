//go:build !unix

package socket

// receive reads from the socket.
func (r *Reader) receive(b []byte) (int, error) {
	if r.local != nil {
		return r.receiveLocal(b)
	}
	return r.receiveAny(b)
}

// unread knows nothing of what was not taken from the socket.
func (r *Reader) unread() bool { return r.local != nil && r.local.Unread() }

// Offering leaves all to whoever waits for the socket.
func (r *Reader) Offering() func(b []byte) int { return nil }
