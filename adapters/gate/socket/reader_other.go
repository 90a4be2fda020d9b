//go:build !unix

package socket

// receive reads from the socket.
func (r *Reader) receive(b []byte) (int, error) {
	if r.local != nil {
		return r.receiveLocal(b)
	}
	return r.receiveAny(b)
}

// unread does not know of data that was not read from the socket yet.
func (r *Reader) unread() bool { return r.local != nil && r.local.Unread() }

// Offering is nil: all output is written by whoever waits for the socket.
func (r *Reader) Offering() func(b []byte) int { return nil }
