// Package foreigntest provides clients with known bugs, for tests of package foreign.
package foreigntest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Machines starts clients that run one of this module's lock machines over amqp091-go. They use real sockets, and the
// bug of their protocol is known.
type Machines struct {
	Target  *lock.Target
	Options lock.Options
}

// Start implements [foreign.Starter].
func (s Machines) Start(context.Context, int) (foreign.Client, error) {
	return &machineClient{Machines: s, names: new(amqp.Names), layouts: make(map[string]*amqplock.Layout)}, nil
}

type machineClient struct {
	Machines
	url     string
	names   *amqp.Names
	layouts map[string]*amqplock.Layout
	machine amqplock.Machine

	mu     sync.Mutex
	conn   *rabbitmq.Conn
	killed bool
}

var errKilled = errors.New("killed")

// unhurried is the timeout of all waiting, long enough that a client never times out on a busy machine.
const unhurried = 5 * time.Minute

func (c *machineClient) Initialize(_ context.Context, in foreign.Setup) (foreign.About, error) {
	c.url = in.URLs[0]
	return foreign.About{Name: c.Target.Name, Locks: []lock.Kind{c.Target.Kind}, Operations: c.Target.Kind.Operations()}, nil
}

func (c *machineClient) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	layout := c.layouts[p.Name]
	if layout == nil {
		clear(c.layouts)
		*c.names = amqp.Names{} // forget old names, as their number is limited and each run has new ones
		layout = amqplock.LayoutOf(c.Target, c.names, p.Name, 12)
		c.layouts[p.Name] = layout
	}
	impl := amqplock.New(c.Target, c.Options, layout)
	m := &c.machine
	m.Channel = 1
	if op == lock.Verify || op == lock.Release {
		m.Held = uint8(p.Slot)
	}
	impl.Start(m, op, uint8(max(p.Slots, p.Slot)))
	for !m.Done() {
		if impl.Choices(m) > 0 {
			impl.Choose(m, 0)
			continue
		}
		batch := make([]amqp.Command, impl.Pending(m))
		for i := range batch {
			ahead := *m
			ahead.Answered += uint8(i)
			batch[i] = impl.Next(&ahead)
		}
		replies, err := c.do(ctx, batch)
		if err != nil {
			return lock.Result{}, err
		}
		for i, r := range replies {
			if i > 0 && (m.Done() || impl.Choices(m) > 0 || impl.Next(m) != batch[i]) {
				break
			}
			impl.Apply(m, r)
		}
	}
	return m.Result, nil
}

func (c *machineClient) do(ctx context.Context, batch []amqp.Command) ([]amqp.Reply, error) {
	conn, err := c.connected(ctx, batch[0].Method == amqp.ConnectionOpen)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		return []amqp.Reply{{Kind: amqp.ConnectionClosed}}, nil
	}
	return conn.Do(batch), nil
}

func (c *machineClient) connected(ctx context.Context, open bool) (*rabbitmq.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return nil, errKilled
	}
	if open && c.conn != nil { // even if the old connection is still open
		c.conn.Close()
		c.conn = nil
	}
	if open {
		conn, err := rabbitmq.Dialer{Heartbeat: unhurried, Timeout: unhurried, Socket: wire.Dial}.Dial(ctx, c.url, c.names)
		if err != nil {
			return nil, nil
		}
		c.conn = conn
	}
	return c.conn, nil
}

func (c *machineClient) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = true
	if c.conn != nil {
		c.conn.Kill()
	}
	return nil
}

func (c *machineClient) Pause() error    { return foreign.ErrUnsupported }
func (c *machineClient) Continue() error { return nil }

func (c *machineClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && !c.killed {
		c.conn.Close()
	}
	return nil
}
