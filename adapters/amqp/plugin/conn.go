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

// door forwards the events of package wire to a [gate.Gate], in the gate's own types.
type door struct {
	server *Server
	gate   gate.Gate
}

// conn is a client's connection to the gate, the proxy in front of the broker.
type conn struct {
	*wire.Conn
	server *Server

	mu       sync.Mutex
	channels []uint16   // channel numbers in order of first use; traces call the first of them 1
	broken   uint16     // number of the channel that the broker closes at its next use; 0 if there is none
	parked   []*command // commands that wait at the gate
	last     *command   // the last command that has passed
}

var _ gate.Conn = (*conn)(nil)

// Opened reports a new client connection to the gate.
func (d door) Opened(c *wire.Conn) {
	l := &conn{Conn: c, server: d.server}
	c.Peer = l
	d.gate.Opened(l)
}

// Arrived reports a client's command to the gate.
func (d door) Arrived(c *wire.Command) {
	l := connOf(c.Conn)
	cmd := &command{Command: c, conn: l}
	l.mu.Lock()
	l.parked = append(l.parked, cmd)
	l.mu.Unlock()
	d.gate.Arrived(cmd)
}

// Answered reports the broker's answer to the gate.
func (d door) Answered(a *wire.Answer) { d.gate.Answered(answer{a}) }

// ClientGone reports to the gate that a client's connection has ended. err becomes a [gate.ErrExcess] if the client
// exceeded a bound.
func (d door) ClientGone(c *wire.Conn, err error) {
	if errors.Is(err, wire.ErrBound) {
		err = fmt.Errorf("%w: %w", gate.ErrExcess, err)
	}
	d.gate.ClientGone(connOf(c), err)
}

// BrokerGone reports to the gate that the broker has ended a connection.
func (d door) BrokerGone(c *wire.Conn, _ error) { d.gate.ServerGone(connOf(c)) }

// connOf is the gate's connection for c; nil if the gate does not know it.
func connOf(c *wire.Conn) *conn {
	l, _ := c.Peer.(*conn)
	return l
}

// Farewell answers the client's connection.close, and closes its socket.
func (l *conn) Farewell(cmd gate.Command) { l.Conn.Farewell(cmd.(*command).Command) }

// Open is false: a new connection is not open before the command connection.open.
func (l *conn) Open() bool { return false }

// Parts is the number of open channels, which are the parts of an AMQP connection.
func (l *conn) Parts() int { return l.Channels() }

// Renew restarts the numbering of channels in traces.
func (l *conn) Renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.channels = l.channels[:0]
}

// Break chooses a channel that the broker will close at its next use. This is the channel of cmd. If cmd is nil or has
// no channel, it is the newest channel: the last one in order of first use.
func (l *conn) Break(cmd gate.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := cmd.(*command); ok && c.Channel > 0 {
		l.broken = c.Channel
	} else if len(l.channels) > 0 {
		l.broken = l.channels[len(l.channels)-1]
	}
}

// Mend cancels a Break that has not taken effect yet.
func (l *conn) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = 0
}

// number is a channel's number in traces, where channels count from 1 in order of first use.
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

// leaves removes a command from those that wait at the gate.
func (l *conn) leaves(c *command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parked = slices.DeleteFunc(l.parked, func(o *command) bool { return o == c })
}

// passes records that a command passes the gate. It sets c.followed if a publish that needs a confirm waits on the same
// channel.
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

// followed reports whether c was the last command to pass and another publish that needs a confirm waited behind it.
func (l *conn) followed(c *wire.Command) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last != nil && l.last.Command == c && l.last.followed
}
