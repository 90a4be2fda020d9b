package plugin

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate"
)

// door is a gate as package wire defines it. It forwards to a [gate.Gate].
type door struct {
	server *Server
	gate   gate.Gate
}

// conn is a connection at the gate.
type conn struct {
	*wire.Conn
	server *Server

	mu       sync.Mutex
	channels []uint16   // in order of first use: the i-th is channel i+1 in traces
	broken   uint16     // a channel that the broker will close when the client next uses it; 0 is none
	parked   []*command // at the gate
	last     *command   // the last command that has passed
}

var _ gate.Conn = (*conn)(nil)

// Opened reports a connection.
func (d door) Opened(c *wire.Conn) {
	l := &conn{Conn: c, server: d.server}
	c.Peer = l
	d.gate.Opened(l)
}

// Arrived reports a command.
func (d door) Arrived(c *wire.Command) {
	l := connOf(c.Conn)
	cmd := &command{Command: c, conn: l}
	l.mu.Lock()
	l.parked = append(l.parked, cmd)
	l.mu.Unlock()
	d.gate.Arrived(cmd)
}

// Answered reports an answer.
func (d door) Answered(a *wire.Answer) { d.gate.Answered(answer{a}) }

// ClientGone reports that a client has gone.
func (d door) ClientGone(c *wire.Conn, err error) {
	if errors.Is(err, wire.ErrBound) {
		err = fmt.Errorf("%w: %w", gate.ErrExcess, err)
	}
	d.gate.ClientGone(connOf(c), err)
}

// BrokerGone reports that the broker has ended a connection.
func (d door) BrokerGone(c *wire.Conn, _ error) { d.gate.ServerGone(connOf(c)) }

// connOf is the gate's connection for c; nil if the gate does not know it.
func connOf(c *wire.Conn) *conn {
	l, _ := c.Peer.(*conn)
	return l
}

// Farewell answers the client's connection.close, and closes its socket.
func (l *conn) Farewell(cmd gate.Command) { l.Conn.Farewell(cmd.(*command).Command) }

// Open is false: a command opens the connection.
func (l *conn) Open() bool { return false }

// Parts is the number of open channels.
func (l *conn) Parts() int { return l.Channels() }

// Renew restarts the numbering of channels.
func (l *conn) Renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.channels = l.channels[:0]
}

// Break makes the broker close a command's channel or, if cmd is nil, the channel whose first use is the latest.
func (l *conn) Break(cmd gate.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := cmd.(*command); ok && c.Channel > 0 {
		l.broken = c.Channel
	} else if len(l.channels) > 0 {
		l.broken = l.channels[len(l.channels)-1]
	}
}

// Mend revokes Break.
func (l *conn) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = 0
}

// number is a channel's number in traces: channels are numbered from 1, in order of first use.
func (l *conn) number(channel uint16) uint16 {
	if channel == 0 {
		return channel
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.channels, channel)
	if i < 0 {
		i = len(l.channels)
		l.channels = append(l.channels, channel)
	}
	return uint16(i + 1)
}

// leaves records that a command leaves the gate.
func (l *conn) leaves(c *command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parked = slices.DeleteFunc(l.parked, func(o *command) bool { return o == c })
}

// passes records that a command passes. A message is followed if another message that needs a confirm waits behind it on the
// same channel.
func (l *conn) passes(c *command) {
	l.leaves(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = c
	if c.begins() && l.broken == c.Channel {
		l.broken = 0
	}
	c.followed = slices.ContainsFunc(l.parked, func(o *command) bool {
		return o.Command.Replies && o.Method.ID() == frame.BasicPublishID && o.Channel == c.Channel
	})
}

// followed reports whether c was the last command to pass, and is followed.
func (l *conn) followed(c *wire.Command) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last != nil && l.last.Command == c && l.last.followed
}
