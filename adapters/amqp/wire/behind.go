package wire

// progress is how far what a client has written was read.
type progress struct {
	reader reader
	// caughtUp is to be called once all was read and shown to the gate; nil where nobody wants to know.
	caughtUp func()
}

// reader is what the goroutine does that reads a connection.
type reader uint8

const (
	readerBusy    reader = iota // with something that the client has written, or with the end of its socket
	readerWaiting               // it has read all, and waits for more
	readerStalled               // too much waits at the gate, or is left unread by the client, for it to go on
	readerDone
)

// Behind reports whether the client has written something, or closed its socket, and the gate has not seen it yet.
// The gate then calls caughtUp once it has, holding no locks, unless the next call replaces it. Behind knows of
// everything that a client on the same machine has written before its next visible action; data from elsewhere may
// still be on its way. Data does not count if it cannot reach the gate before something else leaves it.
//
// On systems other than Unix, Behind knows only of data that was read from the socket.
func (c *Conn) Behind(caughtUp func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	behind := c.progress.reader == readerBusy || c.progress.reader == readerWaiting && c.unread()
	if behind {
		c.progress.caughtUp = caughtUp
	}
	return behind
}

// reads notes what the goroutine does now that reads the connection, and tells whoever waits for it.
func (c *Conn) reads(now reader) {
	c.mu.Lock()
	caughtUp := c.readsLocked(now)
	c.mu.Unlock()
	if caughtUp != nil {
		caughtUp()
	}
}

// readsLocked is reads for who holds mu, and calls what it returns, unless that is nil, when mu is free.
func (c *Conn) readsLocked(now reader) (caughtUp func()) {
	c.progress.reader = now
	if now != readerBusy {
		caughtUp, c.progress.caughtUp = c.progress.caughtUp, nil
	}
	return caughtUp
}

// receiveMemory reads from a connection within the process, as receive does from a socket.
func (c *Conn) receiveMemory(b []byte) (int, error) {
	for {
		c.mu.Lock()
		n, err, done := c.memory.in.try(b)
		now := readerBusy
		if !done {
			now = readerWaiting
		}
		caughtUp := c.readsLocked(now)
		c.mu.Unlock()
		if caughtUp != nil {
			caughtUp()
		}
		if done {
			return n, err
		}
		c.memory.in.await()
	}
}

// receiveAny reads from a socket of any kind.
func (c *Conn) receiveAny(b []byte) (int, error) {
	c.reads(readerWaiting)
	n, err := c.socket.Read(b)
	c.reads(readerBusy)
	return n, err
}
