package stream

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/socket"
)

const (
	// mostUncut is the maximum length in bytes of an incomplete command or reply.
	mostUncut = 16 << 20
	// mostParked is the maximum number of commands of a connection that wait at the gate. When it is reached, reading from
	// the client pauses.
	mostParked = 1 << 12
	// writeLimit is the maximum time that a client may leave data unread.
	writeLimit = 30 * time.Second
)

// Conn is a client's connection to the gate, together with the gate's connection to the server.
type Conn struct {
	address *Address
	client  net.Conn
	reader  *socket.Reader // reads from the client's socket
	up      net.Conn
	said    *socket.Reader // reads from the server's socket
	catches sync.Mutex     // lets one goroutine at a time wait in caughtUp, since the reader notifies only one
	id      int64
	joins   bool // the protocol is unknown: what the client writes without a pause is one command

	mu       sync.Mutex
	changed  sync.Cond
	session  Session
	number   uint64
	parked   []*Command
	pending  []*Command // commands without a reply
	released bool       // the server was told of the connection's end
	over     bool       // the server sends nothing more
	gone     bool       // nothing more arrives from the client
	known    bool       // the gate was told of the connection
	tells    bool       // a message of the server is being passed to the gate
	held     int        // number of answers at the gate that were neither sent nor lost
}

var _ gate.Conn = (*Conn)(nil)

func newConn(a *Address, client, up net.Conn, id int64) *Conn {
	c := &Conn{
		address: a, client: client, reader: socket.NewReader(client), up: up, said: socket.NewReader(up), id: id,
		session: a.proxy.protocol.Session(),
	}
	c.changed.L = &c.mu
	_, c.joins = a.proxy.protocol.(Unknown)
	return c
}

// underway reports whether something of the connection is on its way that does not wait at the gate: a connection or
// a message of the server of which the gate was not told yet, the server's greeting, the reply to a command that
// passed without waiting, or bytes that the client has not received.
func (c *Conn) underway() bool {
	if c.reader.Unreceived() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	passes := func(cmd *Command) bool { return !cmd.gated }
	return !c.known || c.tells || !c.released && !c.over && (c.session.Greets() || slices.ContainsFunc(c.pending, passes))
}

// serve reads what the client writes until its connection ends.
func (c *Conn) serve() {
	c.address.gate.Opened(c)
	c.mu.Lock()
	c.known = true
	c.mu.Unlock()
	c.address.tasks.Go(c.hear)
	err := c.read()
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	c.address.gate.ClientGone(c, err) // first, because a client that was cut off may notice that at once
	c.client.Close()
	c.reader.Done()
	c.end()
}

// read reads commands until the client is gone or is cut off.
func (c *Conn) read() error {
	var all []byte
	b := make([]byte, 1<<14)
	for {
		n, err := c.reader.Read(b)
		if err != nil {
			return err
		}
		c.address.count(func(counts *gate.Counts) { counts.In.Bytes += n })
		if all = append(all, b[:n]...); len(all) > mostUncut {
			return fmt.Errorf("%w: a command of more than %d bytes", gate.ErrExcess, mostUncut)
		}
		var ended error
		if c.joins {
			all, ended = c.more(all, b)
		}
		if all, err = c.cut(all); err != nil || ended != nil {
			return cmp.Or(err, ended)
		}
	}
}

// joinPause is the maximum pause of a client within a command, if the protocol is unknown: a longer pause ends the command.
const joinPause = 2 * time.Millisecond

// more reads what the client writes until the client pauses, and appends it to all.
func (c *Conn) more(all, b []byte) (_ []byte, err error) {
	for n := 0; err == nil && len(all) <= mostUncut; all = append(all, b[:n]...) {
		if err = c.client.SetReadDeadline(time.Now().Add(joinPause)); err == nil {
			n, err = c.reader.Read(b)
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = c.client.SetReadDeadline(time.Time{})
	}
	return all, err
}

// cut passes the complete commands at the beginning of b to the gate, and returns the remaining bytes.
func (c *Conn) cut(b []byte) ([]byte, error) {
	for len(b) > 0 {
		c.mu.Lock()
		sent, n, err := c.session.Command(b)
		c.mu.Unlock()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", gate.ErrProtocol, err)
		}
		if n == 0 {
			break
		}
		c.arrive(sent, slices.Clone(instead(sent.Instead, b[:n])))
		b = b[n:]
	}
	return slices.Clone(b), nil
}

// instead returns other, or b if other is nil.
func instead(other, b []byte) []byte {
	if other != nil {
		return other
	}
	return b
}

// arrive passes a command to the gate. It stops reading while too many commands wait.
func (c *Conn) arrive(sent Sent, bytes []byte) {
	c.mu.Lock()
	if sent.Aside {
		c.aside(sent.Call, bytes)
		return
	}
	if last := len(c.parked) - 1; c.joins && last >= 0 {
		c.parked[last].join(bytes)
		c.mu.Unlock()
		return
	}
	c.number++
	cmd := &Command{Sent: sent, conn: c, number: c.number, bytes: bytes}
	waits := func(o *Command) bool { return o.Sent.Replies }
	cmd.pipelined = len(c.pending) > 0 || slices.ContainsFunc(c.parked, waits)
	passes := sent.Passes && !c.released && (len(c.parked) == 0 || sent.Call != 0)
	if cmd.gated = !passes; cmd.gated {
		c.parked = append(c.parked, cmd)
	}
	c.mu.Unlock()
	c.address.count(func(counts *gate.Counts) {
		counts.In.Frames++
		if passes {
			return
		}
		if counts.Commands == nil {
			counts.Commands = make(map[string]int)
		}
		counts.Commands[sent.Name]++
		if sent.Replies && !cmd.pipelined {
			counts.RoundTrips++
		}
	})
	if passes {
		c.write(cmd)
		return
	}
	c.address.gate.Arrived(cmd)
	c.hold()
}

// aside passes on bytes that belong to the protocol itself, not to a command. mu is held on entry, and released.
func (c *Conn) aside(call uint64, bytes []byte) {
	for _, cmd := range slices.Backward(c.parked) {
		if call != 0 && cmd.Call == call {
			cmd.bytes = append(cmd.bytes, bytes...)
			c.mu.Unlock()
			return
		}
	}
	gone := c.released || c.over
	c.mu.Unlock()
	if !gone {
		_, _ = c.up.Write(bytes) // an error is also seen by the goroutine that reads from the server
	}
}

// hold waits while too many commands of the connection are at the gate.
func (c *Conn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	full := func() bool { return len(c.parked) >= mostParked && !c.released }
	if !full() {
		return
	}
	c.reader.Stalled()
	for full() {
		c.changed.Wait()
	}
	c.reader.Goes()
}

// write writes a command to the server, unless the server has ended the connection.
func (c *Conn) write(cmd *Command) {
	c.mu.Lock()
	if c.released || c.over {
		c.mu.Unlock()
		return
	}
	if cmd.Cancels != 0 {
		c.settled(cmd.Cancels, len(c.pending))
	}
	if cmd.Sent.Replies {
		c.pending = append(c.pending, cmd)
	}
	c.mu.Unlock()
	_, _ = c.up.Write(cmd.bytes) // an error is also seen by the goroutine that reads from the server
}

// hear reads what the server sends until it has ended the connection.
func (c *Conn) hear() {
	defer c.said.Done()
	var all []byte
	b := make([]byte, 1<<14)
	for {
		n, err := c.said.Read(b)
		if err == nil {
			all, err = c.take(append(all, b[:n]...))
		}
		if err != nil {
			c.mu.Lock()
			released := c.released
			c.over = true
			c.changed.Broadcast()
			c.mu.Unlock()
			if !released {
				c.address.gate.ServerGone(c)
			}
			c.end()
			return
		}
	}
}

// errTooLong is the error for a reply of the server that is longer than mostUncut.
var errTooLong = errors.New("the server says more than is kept")

// take passes the complete replies at the beginning of b to the gate, and returns the remaining bytes.
func (c *Conn) take(b []byte) ([]byte, error) {
	for len(b) > 0 {
		c.mu.Lock()
		said, n, settles, err := c.session.Reply(b)
		if err != nil {
			c.mu.Unlock()
			return nil, err
		}
		if n == 0 {
			c.mu.Unlock()
			break
		}
		a := &Answer{Said: said, conn: c, bytes: slices.Clone(instead(said.Instead, b[:n]))}
		a.settles, c.tells = c.settled(said.Call, settles), true
		c.mu.Unlock()
		b = b[n:]
		c.tell(a)
		c.mu.Lock()
		c.tells = false
		for _, cmd := range a.settles {
			cmd.answered = true
		}
		c.changed.Broadcast()
		c.mu.Unlock()
	}
	if len(b) > mostUncut {
		return nil, errTooLong
	}
	return slices.Clone(b), nil
}

// settled removes the commands that a reply answers from the pending ones, and returns them: the n oldest or, if
// commands have call numbers, the n oldest with that number. mu is held.
func (c *Conn) settled(call uint64, n int) (settled []*Command) {
	c.pending = slices.DeleteFunc(slices.Clone(c.pending), func(cmd *Command) bool {
		if len(settled) == n || call != 0 && cmd.Call != call {
			return false
		}
		settled = append(settled, cmd)
		return true
	})
	return settled
}

// tell passes a message of the server to the gate. Replies to commands that passed without waiting are sent at once,
// unless the gate holds an earlier reply back. Messages that arrive during our own Close are dropped.
func (c *Conn) tell(a *Answer) {
	passes := len(a.settles) > 0 && !slices.ContainsFunc(a.settles, func(cmd *Command) bool { return cmd.gated })
	c.mu.Lock()
	released := c.released
	direct := a.Said.Aside || passes && c.held == 0
	if !released && !direct {
		c.held++
		a.held = true
	}
	c.mu.Unlock()
	if released {
		return
	}
	if direct {
		a.Send(false)
		return
	}
	c.address.gate.Answered(a)
}

// askEvery is the time between two checks whether the server keeps a command waiting.
const askEvery = 200 * time.Microsecond

// effect waits until a command has taken effect: it is answered, or the server keeps it waiting.
func (c *Conn) effect(cmd *Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := time.Now().Add(writeLimit); cmd.Sent.Replies && !cmd.answered && !c.released && !c.over && time.Now().Before(end); {
		timer := time.AfterFunc(askEvery, c.look)
		c.changed.Wait()
		if !timer.Stop() && !cmd.answered {
			c.mu.Unlock()
			waits, err := c.address.proxy.up.Waits(c.id)
			if waits {
				c.caughtUp() // as the server may have answered before the check
			}
			c.mu.Lock()
			if cmd.waits = waits && !cmd.answered; cmd.waits || err != nil {
				return
			}
		}
	}
}

// closes waits until the server has ended a connection that its client has closed, and has seen its end.
func (c *Conn) closes() {
	c.mu.Lock()
	for end := time.Now().Add(writeLimit); !c.released && !c.over && time.Now().Before(end); {
		timer := time.AfterFunc(askEvery, c.look)
		c.changed.Wait()
		timer.Stop()
	}
	ended := c.over && !c.released
	c.mu.Unlock()
	if ended {
		_ = c.address.proxy.up.Kill(c.id) // an error means that the server no longer has the connection
	}
}

// look wakes the goroutines that wait on c, so that they check their conditions again. It takes mu, so that none of them
// misses the wake-up between its check and its wait.
func (c *Conn) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

// listens reports whether the server may still send something on the connection: a reply, or a message that no
// command asked for.
func (c *Conn) listens() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.released && !c.over && (len(c.pending) > 0 || c.session.Listens())
}

// caughtUp waits until everything that the server has sent was passed to the gate.
func (c *Conn) caughtUp() {
	c.catches.Lock()
	defer c.catches.Unlock()
	done := make(chan struct{}, 1)
	for c.said.Behind(func() { done <- struct{}{} }) {
		<-done
	}
}

// Open returns true: the server has the connection from the beginning.
func (c *Conn) Open() bool { return true }

// Cut closes the client's socket at once.
func (c *Conn) Cut() { c.client.Close() }

// HangUp closes the client's socket. All output is already written then.
func (c *Conn) HangUp() { c.client.Close() }

// Farewell closes the client's socket, without an answer to the command.
func (c *Conn) Farewell(gate.Command) { c.client.Close() }

// Release lets the server see the end of the connection.
func (c *Conn) Release() {
	c.mu.Lock()
	released, over := c.released, c.over
	c.released = true
	c.changed.Broadcast()
	c.mu.Unlock()
	if !released && !over {
		_ = c.address.proxy.up.Kill(c.id) // an error means that the server no longer has the connection
	}
	c.up.Close()
	c.end()
}

// end forgets the connection when both of its ends are closed.
func (c *Conn) end() {
	c.mu.Lock()
	done := c.gone && (c.released || c.over)
	c.mu.Unlock()
	if done {
		c.up.Close()
		c.address.forget(c)
	}
}

// Behind reports whether the client has written something that the gate has not seen.
func (c *Conn) Behind(caughtUp func()) bool { return c.reader.Behind(caughtUp) }

// Parts returns 0: connections have no parts. So Break, Mend and Renew do nothing.
func (c *Conn) Parts() int { return 0 }

// Break does nothing, since connections have no parts.
func (c *Conn) Break(gate.Command) {}

// Mend does nothing, since there is no Break.
func (c *Conn) Mend() {}

// Renew does nothing, since traces show no numbers of a connection.
func (c *Conn) Renew() {}
