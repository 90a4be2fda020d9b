package wire

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Bounds of clients' resources. The constants Default... are the defaults of [Config].
const (
	// DefaultMaxConnections is the default of [Config.MaxConnections].
	DefaultMaxConnections = 10_000
	// DefaultMaxMessage is the default of [Config.MaxMessage], in bytes. It is RabbitMQ's bound.
	DefaultMaxMessage = 128 << 20
	// DefaultMaxHeld is the default of [Config.MaxHeld], in bytes.
	DefaultMaxHeld = 1 << 30
	// DefaultMaxUnread is the default of [Config.MaxUnread], in bytes.
	DefaultMaxUnread = 256 << 20
	// DefaultMaxHandshake is the default of [Config.MaxHandshake].
	DefaultMaxHandshake = 10 * time.Second

	// MaxFrame is the maximum size of a frame that the server offers and accepts, in bytes with its overhead.
	MaxFrame = 128 << 10
	// maxFrameTaken is the maximum size of a frame, in bytes with its overhead, if a real broker has agreed to frames
	// larger than MaxFrame.
	maxFrameTaken = 16 << 20
	// MaxParked is the maximum number of a connection's commands that wait at the gate. At this number, reading from
	// the client pauses.
	MaxParked = 1024
	// maxParkedBytes is the maximum number of bytes in a connection's commands that wait at the gate. Beyond it,
	// reading from the client pauses.
	maxParkedBytes = 64 << 20
	// maxUnread is the number of unread bytes sent to a client. Beyond it, reading from that client pauses.
	maxUnread = 1 << 20
	// maxQueues is the maximum number of queues of the simulated broker.
	maxQueues = math.MaxUint16
	// maxConsumers is the maximum number of consumers of a channel.
	maxConsumers = 1000
	// goodbyeLimit is the maximum time that a client has to close its socket when its connection ends.
	goodbyeLimit = 2 * time.Second
)

// ErrBound is wrapped by the error of a connection that the server ended because its client exceeded a bound.
var ErrBound = errors.New("more than a bound allows")

// exceeds is a refusal, that is, the reason to close a connection, because a bound was exceeded.
func exceeds(code frame.Code, format string, args ...any) *refusal {
	return &refusal{code: code, text: fmt.Sprintf(format, args...), bound: true}
}

// Unwrap is ErrBound if a bound was exceeded.
func (r *refusal) Unwrap() error {
	if r.bound {
		return ErrBound
	}
	return nil
}

// refuseOpen is the reason to refuse a new connection because there are more than MaxConnections; nil if it may be
// opened.
func (c *Conn) refuseOpen(m frame.Method) *refusal {
	if open, ok := m.(*frame.ConnectionOpen); ok && c.surplus {
		return exceeds(frame.NotAllowed, "access to vhost '%s' refused for user '%s': connection limit (%d) is reached",
			open.VirtualHost, c.User(), c.Server.config.MaxConnections)
	}
	return nil
}

// budget counts the bytes of all clients' messages that the server holds: incomplete, at the gate, or not yet written.
type budget struct {
	held  atomic.Int64
	bound int
}

// take adds bytes to the count. The result is nil unless the sum exceeds the maximum.
func (b *budget) take(bytes int) *refusal {
	if b.held.Add(int64(bytes)) > int64(b.bound) {
		return exceeds(frame.ResourceError, "more than %d bytes are on their way from all clients", b.bound)
	}
	return nil
}

// give subtracts bytes from the count.
func (b *budget) give(bytes int) { b.held.Add(-int64(bytes)) }

// withDefaults is the configuration with defaults for zero fields.
func (c Config) withDefaults() Config {
	if c.Gate == nil {
		c.Gate = Through{}
	}
	c.MaxMessage = cmp.Or(c.MaxMessage, DefaultMaxMessage)
	c.MaxConnections = cmp.Or(c.MaxConnections, DefaultMaxConnections)
	c.MaxHeld = cmp.Or(c.MaxHeld, DefaultMaxHeld)
	c.MaxUnread = cmp.Or(c.MaxUnread, DefaultMaxUnread)
	c.MaxHandshake = cmp.Or(c.MaxHandshake, DefaultMaxHandshake)
	return c
}
