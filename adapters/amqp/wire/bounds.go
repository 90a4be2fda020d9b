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

// Bounds. Those of a [Config] are what it has where it does not say otherwise.
const (
	// DefaultMaxConnections is how many connections there may be to a server at once.
	DefaultMaxConnections = 10_000
	// DefaultMaxMessage is how many bytes of content a message may have: RabbitMQ's.
	DefaultMaxMessage = 128 << 20
	// DefaultMaxHeld is how many bytes of content may be on their way from all clients of a server.
	DefaultMaxHeld = 1 << 30
	// DefaultMaxUnread is how many bytes a client may leave unread.
	DefaultMaxUnread = 256 << 20
	// DefaultMaxHandshake is how long a client may take until its connection is tuned.
	DefaultMaxHandshake = 10 * time.Second

	// MaxFrame is the largest frame that is offered and taken, in bytes with its overhead.
	MaxFrame = 128 << 10
	// maxFrameTaken is the largest frame taken where the broker behind us has agreed to anything.
	maxFrameTaken = 16 << 20
	// MaxParked is how many commands of one connection wait at the gate before no more is read from it.
	MaxParked = 1024
	// maxParkedBytes is the same in bytes.
	maxParkedBytes = 64 << 20
	// maxUnread is how many bytes a client may leave unread before no more is read from it.
	maxUnread = 1 << 20
	// maxQueues is how many queues the simulated broker has at once.
	maxQueues = math.MaxUint16
	// maxConsumers is how many consumers a channel may have.
	maxConsumers = 1000
	// goodbyeLimit is how long a client may take to hang up in the end.
	goodbyeLimit = 2 * time.Second
)

// ErrBound is, somewhere in it, the error of a connection that was ended because its client took more than it may.
var ErrBound = errors.New("more than a bound allows")

// exceeds refuses what is more than a bound allows.
func exceeds(code frame.Code, format string, args ...any) *refusal {
	return &refusal{code: code, text: fmt.Sprintf(format, args...), bound: true}
}

// Unwrap is ErrBound, for those that it is the reason of.
func (r *refusal) Unwrap() error {
	if r.bound {
		return ErrBound
	}
	return nil
}

// refuseOpen is why a connection is not opened that is one too many, nil where it may be.
func (c *Conn) refuseOpen(m frame.Method) *refusal {
	if open, ok := m.(*frame.ConnectionOpen); ok && c.surplus {
		return exceeds(frame.NotAllowed, "access to vhost '%s' refused for user '%s': connection limit (%d) is reached",
			open.VirtualHost, c.User(), c.Server.config.MaxConnections)
	}
	return nil
}

// budget is how many bytes of content are on their way.
type budget struct {
	held  atomic.Int64
	bound int
}

// take takes some more. The refusal is for more than there may be.
func (b *budget) take(bytes int) *refusal {
	if b.held.Add(int64(bytes)) > int64(b.bound) {
		return exceeds(frame.ResourceError, "more than %d bytes are on their way from all clients", b.bound)
	}
	return nil
}

// give gives back what was taken.
func (b *budget) give(bytes int) { b.held.Add(-int64(bytes)) }

// withDefaults has what is left out filled in.
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
