package rabbitmq

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/lock"
)

// Measured is the broker as a server on which locks are measured, both locks by exclusive queues and locks by
// consumption.
func (b *Broker) Measured() measure.Server { return measuredBroker{b} }

type measuredBroker struct{ broker *Broker }

// Name implements [measure.Server].
func (m measuredBroker) Name() string { return m.broker.Version }

// Lock implements [measure.Server]. These locks have no lease: they are held as long as the connection lives.
func (m measuredBroker) Lock(ctx context.Context, t *lock.Target, _ time.Duration) (measure.Lock, error) {
	l := &measuredLock{broker: m.broker}
	names := new(amqp.Names)
	options := lock.BackendOf(t).Defaults
	var setUp func(*observer) error
	if t.Backend == consumption.Server {
		p := &consumption.Protocol{Kind: t.Kind, Settings: consumption.Table.Of(t.Settled(options)), Layout: consumption.NewLayout(names, stress.Lock)}
		l.machine = func() machine { return newConsuming(p) }
		setUp = func(o *observer) error { return furnish(o, p) }
	} else {
		layout := amqplock.LayoutOf(t, names, stress.Lock, 1)
		protocol := amqplock.New(t, options, layout)
		l.machine = func() machine { return &asking{newDriven(protocol)} }
		setUp = func(o *observer) error { return declareSlots(o, t, options, layout, 1) }
	}
	var err error
	if l.names, err = prefixed(names, m.broker.Prefix()); err != nil {
		return nil, err
	}
	m.broker.note(l.names, l.queues())
	o, err := newObserver(ctx, m.broker.URL, l.names)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return l, setUp(o)
}

// furnish creates the queue of a lock by consumption, with one token.
func furnish(o *observer, p *consumption.Protocol) error {
	for _, cmd := range append([]amqp.Command{{Method: amqp.ConfirmSelect}}, p.Furnish(1)...) {
		if r := o.ask(cmd); r.Kind != amqp.OK && r.Kind != amqp.Ack {
			return fmt.Errorf("%s: expected ok, got %s", cmd.Words(o.names), r)
		}
	}
	return nil
}

// measuredLock is a lock that is being measured. Its names on the broker are unique.
type measuredLock struct {
	broker  *Broker
	names   *amqp.Names
	machine func() machine
}

// queues are all queues that the lock may have.
func (l *measuredLock) queues() []amqp.Queue {
	all := make([]amqp.Queue, l.names.Len())
	for i := range all {
		all[i] = amqp.Queue(i + 1)
	}
	return all
}

// Lease implements [measure.Lock]. It is 0, because there is no lease.
func (l *measuredLock) Lease() time.Duration { return 0 }

// Close implements [measure.Lock].
func (l *measuredLock) Close() error { return l.broker.sweep(l.names, l.queues()) }

// Client implements [measure.Lock].
func (l *measuredLock) Client(ctx context.Context, _ int) (measure.Client, error) {
	c := &measuredClient{machine: l.machine()}
	connect := dialer(ctx)
	conn, err := Dialer{Socket: func(network, address string) (net.Conn, error) {
		socket, err := connect(network, address)
		if err != nil {
			return nil, err
		}
		return c.traffic.Over(socket), nil
	}}.Dial(ctx, l.broker.URL, l.names)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	_, err = c.Do(ctx, lock.Connect)
	return c, err
}

// machine is a client's state machine: [asking] for a lock by exclusive queues, or [consuming] for a lock by
// consumption.
type machine interface {
	start(op lock.Op)
	// step sends the machine's next commands and returns them with their replies. Both are empty if the machine only
	// waited or chose.
	step(c *Conn) (batch []amqp.Command, replies []amqp.Reply)
	// result is the result of the operation, and whether it has ended.
	result() (lock.Result, bool)
}

// measuredClient is a client that is being measured: its state machine, connection and costs.
type measuredClient struct {
	machine
	conn    *Conn
	traffic measure.Traffic
	bill    bill
}

// Do implements [measure.Client]. If the connection is lost, it returns an error and does not reconnect.
func (c *measuredClient) Do(ctx context.Context, op lock.Op) (lock.Result, error) {
	c.start(op)
	for {
		if r, done := c.result(); done {
			return r, nil
		}
		if ctx.Err() != nil {
			return lock.Result{}, ctx.Err()
		}
		batch, replies := c.step(c.conn)
		c.bill.charge(batch, replies)
		if n := len(replies); n > 0 && (replies[n-1].Kind == amqp.ConnectionClosed || replies[n-1].Kind == amqp.Lost) {
			return lock.Result{}, fmt.Errorf("%s: %s", batch[n-1].Words(c.conn.names), replies[n-1])
		}
	}
}

// Spent implements [measure.Client].
func (c *measuredClient) Spent() measure.Spent {
	return c.traffic.Add(measure.Spent{Commands: c.bill.commands, RoundTrips: c.bill.trips})
}

// Kill implements [measure.Client].
func (c *measuredClient) Kill() { c.conn.Kill() }

// Close implements [measure.Client].
func (c *measuredClient) Close() { _ = c.conn.Close() } // the connection may have ended already

// asking is the state machine of a client of a lock by exclusive queues.
type asking struct{ driven }

func (m *asking) start(op lock.Op) { m.protocol.Start(&m.machine, op, 0) }

func (m *asking) result() (lock.Result, bool) { return m.machine.Result, m.machine.Done() }

// step sends the next batch of commands. If an option leaves a choice to the machine, step takes the first one.
func (m *asking) step(c *Conn) ([]amqp.Command, []amqp.Reply) {
	if m.protocol.Choices(&m.machine) > 0 {
		m.protocol.Choose(&m.machine, 0)
		return nil, nil
	}
	batch := m.batch()
	replies := c.Do(batch)
	m.take(batch, replies)
	return batch, replies
}

// consuming is the state machine of a client of a lock by consumption.
type consuming struct {
	protocol *consumption.Protocol
	machine  consumption.Machine
	inbox    []amqp.Delivery
}

func newConsuming(p *consumption.Protocol) *consuming {
	return &consuming{protocol: p, machine: consumption.Machine{Channel: clientChannel}}
}

// tokenPatience is how long a client waits for the delivery of a token before it cancels its consumer.
const tokenPatience = 50 * time.Millisecond

func (m *consuming) start(op lock.Op) { m.protocol.Start(&m.machine, op, 0) }

func (m *consuming) result() (lock.Result, bool) { return m.machine.Result, m.machine.Done() }

func (m *consuming) step(c *Conn) ([]amqp.Command, []amqp.Reply) {
	if m.machine.Waits() {
		if !m.receive(c, 1, tokenPatience) {
			m.protocol.GiveUp(&m.machine)
		}
		return nil, nil
	}
	batch := []amqp.Command{m.protocol.Next(&m.machine)}
	replies := c.Do(batch)
	m.receive(c, 0, 0) // takes deliveries that came before the reply
	slot := uint8(0)
	if replies[0].Kind == amqp.GetOK {
		slot = 1
	}
	m.protocol.Apply(&m.machine, replies[0], slot)
	return batch, replies
}

// receive gives the machine the deliveries of its consumer, and reports whether there were any. It waits for at least
// least deliveries, but at most for patience.
func (m *consuming) receive(c *Conn, least int, patience time.Duration) bool {
	m.inbox = c.Deliveries(least, patience, m.inbox[:0])
	for _, d := range m.inbox {
		m.protocol.Take(&m.machine, d, 1)
	}
	return len(m.inbox) > 0
}
