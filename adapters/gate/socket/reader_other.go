//go:build !unix

package socket

// receive reads from the socket, and waits if there is no data.
func (r *Reader) receive(b []byte) (int, error) {
	if r.local != nil {
		return r.receiveLocal(b)
	}
	return r.receiveAny(b)
}

// unread reports whether a connection within the process has data to read. For a socket it returns false, as this
// system does not tell.
func (r *Reader) unread() bool { return r.local != nil && r.local.Unread() }

// Offering returns nil: the caller writes all output itself, and waits for the socket.
func (r *Reader) Offering() func(b []byte) int { return nil }
