// Package mutexes has mutexes on RabbitMQ with several designs, which use amqp091-go. Some have a bug each.
package mutexes

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Design is a way to implement a mutex.
type Design interface {
	// claim tries to acquire the lock, and reports whether it succeeded.
	claim(*Mutex, string) (bool, error)
	// look sends the broker a request that succeeds only if the lock is still held.
	look(*Mutex, string) error
	// giveBack releases the lock.
	giveBack(*Mutex, string) error
}

// Mutex is one client: a connection with a channel, and the lock that it holds. It holds at most one lock, and is not
// safe for concurrent use. After an error other than a refusal, it closes the connection, which releases the lock.
type Mutex struct {
	url    string
	design Design
	conn   *amqp.Connection
	ch     *amqp.Channel
	prober *amqp.Connection
	held   string
	tag    uint64 // delivery tag of the message that is the token
	// consumer is the tag of the consumer by which it holds the lock.
	consumer string
	token    int64 // fencing token of the last grant
	// patience is the maximum time to wait for a delivery.
	patience time.Duration
}

// usually is the maximum time to wait for a delivery, unless the caller of acquire states one.
const usually = 20 * time.Millisecond

// New returns a client, connected to a broker.
func New(_ context.Context, url string, d Design) (*Mutex, error) {
	m := &Mutex{url: url, design: d, patience: usually}
	return m, m.connect()
}

// Connected reports whether the client has a connection and has not noticed its end.
func (m *Mutex) Connected() bool { return m.conn != nil && !m.conn.IsClosed() }

// connect opens a connection if there is none. A lock that was held on an old connection is lost.
func (m *Mutex) connect() (err error) {
	if m.Connected() {
		return m.open()
	}
	m.held, m.ch = "", nil
	if m.conn, err = amqp.Dial(m.url); err != nil {
		return err
	}
	return m.open()
}

// open opens a channel if there is none.
func (m *Mutex) open() (err error) {
	if m.ch == nil || m.ch.IsClosed() {
		m.ch, err = m.conn.Channel()
	}
	return err
}

// abandon closes the connection, so that the broker releases what the client holds.
func (m *Mutex) abandon() {
	m.held = ""
	if m.Connected() {
		m.conn.Close()
	}
	if m.prober != nil && !m.prober.IsClosed() {
		m.prober.Close()
	}
}

// lockedByAnyone returns nil if any connection has the exclusive queue. It asks on a new connection, which it closes
// again.
func (m *Mutex) lockedByAnyone(queue string) error {
	conn, err := amqp.Dial(m.url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	_, err = ch.QueueDeclarePassive(queue, false, false, true, false, nil)
	var e *amqp.Error
	if errors.As(err, &e) && e.Code == amqp.ResourceLocked {
		return nil
	}
	return err
}

// probe sends the broker a request on the second connection. It opens that connection if there is none.
func (m *Mutex) probe() (err error) {
	if m.prober == nil || m.prober.IsClosed() {
		if m.prober, err = amqp.Dial(m.url); err != nil {
			return err
		}
	}
	ch, err := m.prober.Channel()
	if err != nil {
		return err
	}
	return ch.Close()
}

// aside calls do with a new channel.
func (m *Mutex) aside(do func(*amqp.Channel) error) error {
	ch, err := m.conn.Channel()
	if err != nil {
		return err
	}
	if err := do(ch); err != nil {
		return err
	}
	return ch.Close()
}

// refused reports whether the broker has closed the channel with one of these codes. In that case it opens the
// channel again.
func (m *Mutex) refused(err error, codes ...int) (bool, error) {
	var closed *amqp.Error
	if !errors.As(err, &closed) {
		return false, err
	}
	for _, code := range codes {
		if closed.Code == code {
			return true, m.open()
		}
	}
	return false, err
}

// Acquire tries to acquire a lock. It returns 1 if the client holds the lock now, and 0 if the lock is taken.
func (m *Mutex) Acquire(_ context.Context, name string) (int, error) {
	err := m.connect()
	if err != nil {
		return 0, err
	}
	held, err := m.design.claim(m, name)
	switch {
	case err != nil:
		m.abandon()
	case held:
		m.held = name
		return 1, nil
	}
	return 0, err
}

// AcquireWithin tries to acquire a lock for at most timeout. Depending on the design, it waits for a message or tries
// repeatedly.
func (m *Mutex) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (int, error) {
	const pause = 60 * time.Millisecond
	if t, ok := m.design.(Token); ok && t.Subscribed {
		m.patience = timeout
		defer func() { m.patience = usually }()
		return m.Acquire(ctx, name)
	}
	for end := time.Now().Add(timeout); ; time.Sleep(pause) {
		slot, err := m.Acquire(ctx, name)
		if slot > 0 || err != nil || time.Now().Add(pause).After(end) {
			return slot, err
		}
	}
}

// Verify reports whether the lock is still held.
func (m *Mutex) Verify(_ context.Context, name string, _ int) (bool, error) {
	if m.held != name {
		return false, nil
	}
	if err := m.design.look(m, name); err != nil {
		m.abandon()
	}
	return m.held == name, nil
}

// Release releases the lock.
func (m *Mutex) Release(_ context.Context, name string, _ int) error {
	if m.held != name {
		return nil
	}
	m.held = ""
	if err := m.design.giveBack(m, name); err != nil {
		m.abandon()
	}
	return nil
}

// Close closes the connection, which releases the lock.
func (m *Mutex) Close() error {
	m.abandon()
	return nil
}

// Queue is a mutex that uses an exclusive queue: the client whose connection has the queue holds the lock.
type Queue struct {
	// ConnectionEach uses a connection for each hold. A release closes the connection.
	ConnectionEach bool
	// AsksFirst declares the queue passively before an acquire claims it.
	AsksFirst bool
	// LockedIsSuccess is a bug: the error RESOURCE_LOCKED is taken to mean that the queue is this client's.
	LockedIsSuccess bool
	// ClosesChannel is a bug: a release only closes the channel. The queue stays, since it belongs to the connection.
	ClosesChannel bool
	// NotExclusive is a bug: the queue is not declared as exclusive.
	NotExclusive bool
	// Pooled is a bug: a release keeps the connection of the hold for later use, and the queue stays with it.
	Pooled bool
	// Prober makes the client open a second connection, and send a request on it before each claim. AsksProber is a
	// bug: verify sends its request on that second connection, which does not hold the lock.
	Prober, AsksProber bool
	// LockedIsHeld is a bug: verify asks on another connection, and believes that it holds the lock if the queue is
	// locked. But another client may have locked the queue.
	LockedIsHeld bool
}

func (q Queue) claim(m *Mutex, name string) (bool, error) {
	if q.Prober || q.AsksProber {
		if err := m.probe(); err != nil {
			return false, err
		}
	}
	if q.AsksFirst {
		_, err := m.ch.QueueDeclarePassive(name+".lock", false, false, true, false, nil)
		absent, err := m.refused(err, amqp.NotFound)
		if !absent {
			_, err = m.refused(err, amqp.ResourceLocked)
		}
		if !absent || err != nil {
			return false, err
		}
	}
	_, err := m.ch.QueueDeclare(name+".lock", false, false, !q.NotExclusive, false, amqp.Table{"x-max-length": int32(0)})
	if err == nil {
		return true, nil
	}
	refused, err := m.refused(err, amqp.ResourceLocked)
	if refused && q.ConnectionEach {
		m.abandon()
	}
	return refused && q.LockedIsSuccess, err
}

func (q Queue) look(m *Mutex, name string) error {
	if q.AsksProber {
		return m.probe()
	}
	if q.LockedIsHeld {
		return m.lockedByAnyone(name + ".lock")
	}
	_, err := m.ch.QueueDeclarePassive(name+".lock", false, false, !q.NotExclusive, false, nil)
	return err
}

func (q Queue) giveBack(m *Mutex, name string) error {
	switch {
	case q.Pooled:
		return nil
	case q.ConnectionEach:
		return m.conn.Close()
	case q.ClosesChannel:
		return m.ch.Close()
	}
	_, err := m.ch.QueueDelete(name+".lock", false, false, false)
	return err
}

// Token is a mutex that uses the only message of a queue: the client that has it unacknowledged holds the lock. The
// first client creates the queue and its message, guarded by an exclusive queue. A third queue marks that creation is
// complete. If a client dies before that, the next client creates them again.
type Token struct {
	// Subscribed uses basic.consume to get the message, not basic.get.
	Subscribed bool
	// Standing keeps the consumer while the lock is held.
	Standing bool
	// Single uses a queue with a single active consumer, so that waiting clients get no message.
	Single bool
	// Quorum uses a quorum queue for the token message.
	Quorum bool
	// LimitedTo is a bug if it is above 0: it is the delivery limit of the quorum queue. A message that was returned
	// that many times is dropped at the next return. The default limit of RabbitMQ 4.0 is 20.
	LimitedTo int
	// InTransaction makes a release publish a new message and acknowledge the old one, in one transaction.
	InTransaction bool
	// ConnectionEach uses a connection for each hold. A release closes the connection.
	ConnectionEach bool
	// Discarded is a bug: a release rejects the message without requeueing it.
	Discarded bool
	// Endless is a bug: an acquire waits for the message without a timeout.
	Endless bool
	// LateKept is a bug: if the message arrives after the acquire has stopped waiting, the client keeps it without
	// knowing.
	LateKept bool
	// Unguarded is a bug: two clients that find no token at the same time both create one.
	Unguarded bool
	// Acknowledged is a bug: a release acknowledges the message, which deletes it.
	Acknowledged bool
	// FromMemory is a bug: verify does not ask the broker whether the lock is still held.
	FromMemory bool
	// Refetches is a bug: if the channel is closed, verify opens another one and gets the message again.
	Refetches bool
	// NoAck is a bug: the message is delivered without acknowledgement. If the holder dies, nobody returns the
	// message.
	NoAck bool
	// Assumes is a bug: the first consumer believes that it is the active one, and does not wait for the message.
	Assumes bool
}

func (t Token) claim(m *Mutex, name string) (bool, error) {
	made, err := t.made(m, name)
	if err == nil && !made {
		made, err = t.make(m, name)
	}
	if err != nil || !made {
		return false, err
	}
	if t.InTransaction {
		if err := m.ch.Tx(); err != nil {
			return false, err
		}
	}
	if t.Subscribed || t.Standing {
		return t.subscribe(m, name)
	}
	d, held, err := m.ch.Get(name+".token", false)
	m.tag = d.DeliveryTag
	if !held && err == nil && t.ConnectionEach {
		m.abandon()
	}
	return held, err
}

func (t Token) subscribe(m *Mutex, name string) (bool, error) {
	if err := m.ch.Qos(1, 0, false); err != nil {
		return false, err
	}
	if t.Assumes {
		q, err := m.ch.QueueDeclarePassive(name+".token", true, false, false, false, nil)
		if err != nil || q.Consumers > 0 {
			return false, err
		}
	}
	deliveries, err := m.ch.Consume(name+".token", "holder", t.NoAck, false, false, false, nil)
	if err != nil {
		return false, err
	}
	if t.Assumes {
		m.tag = 1
		return true, nil
	}
	held := false
	if t.Endless {
		m.patience = time.Hour
	}
	select {
	case d, ok := <-deliveries:
		held, m.tag = ok, d.DeliveryTag
	case <-time.After(m.patience):
	}
	if held && t.Standing {
		return true, nil
	}
	if err := m.ch.Cancel("holder", false); err != nil {
		return false, err
	}
	for d := range deliveries { // the message arrived after the timeout, and before the consumer was cancelled
		held, m.tag = !t.LateKept, d.DeliveryTag
	}
	return held, nil
}

func (t Token) made(m *Mutex, name string) (bool, error) {
	_, err := m.ch.QueueDeclarePassive(name+".made", true, false, false, false, nil)
	if err == nil {
		return true, nil
	}
	_, err = m.refused(err, amqp.NotFound)
	return false, err
}

func (t Token) make(m *Mutex, name string) (bool, error) {
	if !t.Unguarded {
		if _, err := m.ch.QueueDeclare(name+".making", false, false, true, false, nil); err != nil {
			_, err = m.refused(err, amqp.ResourceLocked)
			return false, err
		}
		made, err := t.made(m, name)
		if err != nil {
			return false, err
		}
		if made { // another client has created the queue meanwhile
			return true, t.over(m, name)
		}
	}
	if _, err := m.ch.QueueDeclare(name+".token", true, false, false, false, t.arguments()); err != nil {
		return false, err
	}
	if !t.Unguarded {
		if _, err := m.ch.QueuePurge(name+".token", false); err != nil {
			return false, err
		}
	}
	if err := m.put(name + ".token"); err != nil {
		return false, err
	}
	if _, err := m.ch.QueueDeclare(name+".made", true, false, false, false, nil); err != nil {
		return false, err
	}
	return true, t.over(m, name)
}

// arguments returns the arguments of the queue that has the message.
func (t Token) arguments() amqp.Table {
	arguments := amqp.Table{}
	if t.Single {
		arguments[amqp.SingleActiveConsumerArg] = true
	}
	if t.Quorum {
		arguments[amqp.QueueTypeArg] = amqp.QueueTypeQuorum
	}
	if t.LimitedTo > 0 {
		arguments["x-delivery-limit"] = t.LimitedTo
	}
	return arguments
}

func (t Token) over(m *Mutex, name string) error {
	if t.Unguarded {
		return nil
	}
	_, err := m.ch.QueueDelete(name+".making", false, false, false)
	return err
}

// look sends a request on the channel that has the message. While the channel is open, the client has the message.
func (t Token) look(m *Mutex, name string) error {
	switch {
	case t.FromMemory:
		return nil
	case t.Refetches && m.ch.IsClosed():
		if err := m.connect(); err != nil {
			return err
		}
		d, held, err := m.ch.Get(name+".token", false)
		if m.tag = d.DeliveryTag; held {
			m.held = name
		}
		return err
	}
	_, err := m.ch.QueueDeclarePassive(name+".token", true, false, false, false, nil)
	return err
}

func (t Token) giveBack(m *Mutex, name string) error {
	switch {
	case t.Acknowledged:
		return m.ch.Ack(m.tag, false)
	case t.NoAck:
		return m.put(name + ".token")
	case t.ConnectionEach:
		return m.conn.Close()
	case t.Discarded:
		return m.ch.Nack(m.tag, false, false)
	case t.InTransaction:
		if err := m.ch.Publish("", name+".token", false, false, amqp.Publishing{DeliveryMode: amqp.Persistent}); err != nil {
			return err
		}
		if err := m.ch.Ack(m.tag, false); err != nil {
			return err
		}
		return m.ch.TxCommit()
	case t.Standing:
		if err := m.ch.Cancel("holder", false); err != nil {
			return err
		}
	}
	return m.ch.Nack(m.tag, false, true)
}

// Consumer is a mutex that uses an exclusive consumer: the client that consumes the lock's queue exclusively holds
// the lock.
type Consumer struct {
	// Quorum is a bug: the lock's queue is a quorum queue. Such queues ignore that a consumer is exclusive, without an
	// error.
	Quorum bool
	// NotExclusive is a bug: the consumer is not exclusive, so several clients can consume.
	NotExclusive bool
	// NotCancelled is a bug: a release does not cancel the consumer, so the lock stays taken.
	NotCancelled bool
	// FromMemory is a bug: verify does not ask the broker whether the lock is still held.
	FromMemory bool
	// OtherChannel is a bug: verify asks on another channel than the one with the consumer.
	OtherChannel bool
}

func (c Consumer) claim(m *Mutex, name string) (bool, error) {
	var arguments amqp.Table
	if c.Quorum {
		arguments = amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum}
	}
	if _, err := m.ch.QueueDeclare(name+".lock", true, false, false, false, arguments); err != nil {
		return false, err
	}
	m.consumer = rand.Text()
	deliveries, err := m.ch.Consume(name+".lock", m.consumer, true, !c.NotExclusive, false, false, nil)
	if err != nil {
		_, err = m.refused(err, amqp.AccessRefused)
		return false, err
	}
	go func() { // nothing is ever published to this queue
		for range deliveries {
		}
	}()
	return true, nil
}

func (c Consumer) look(m *Mutex, name string) error {
	switch {
	case c.FromMemory:
		return nil
	case c.OtherChannel:
		return m.aside(func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive(name+".lock", true, false, false, false, nil)
			return err
		})
	}
	_, err := m.ch.QueueDeclarePassive(name+".lock", true, false, false, false, nil)
	return err
}

func (c Consumer) giveBack(m *Mutex, _ string) error {
	if c.NotCancelled {
		return nil
	}
	return m.ch.Cancel(m.consumer, false)
}
