// Package mutexes has mutexes on RabbitMQ of several designs, with amqp091-go, and some with a bug each.
package mutexes

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Design is how a mutex holds its lock.
type Design interface {
	// claim tries to get the lock.
	claim(*Mutex, string) (bool, error)
	// look asks the broker something that it answers only if what was claimed is still held.
	look(*Mutex, string) error
	// giveBack gives the lock back.
	giveBack(*Mutex, string) error
}

// Mutex is one client of mutexes: a connection with a channel, and the lock that is held by it. It holds one at most,
// and is not safe for concurrent use. Whatever goes wrong that is no answer, it gives the connection up, and with it
// what it holds.
type Mutex struct {
	url    string
	design Design
	conn   *amqp.Connection
	ch     *amqp.Channel
	prober *amqp.Connection
	held   string
	tag    uint64 // of the message that is the token
	// consumer is the tag of the consumer by which it holds the lock.
	consumer string
	token    int64 // that it was given last
	// patience is how long a delivery is waited for.
	patience time.Duration
}

// usually is how long a delivery is waited for, unless a client is told how long to wait.
const usually = 20 * time.Millisecond

// New makes a client, connected to a broker.
func New(_ context.Context, url string, d Design) (*Mutex, error) {
	m := &Mutex{url: url, design: d, patience: usually}
	return m, m.connect()
}

// Connected reports whether the client knows of no end of its connection.
func (m *Mutex) Connected() bool { return m.conn != nil && !m.conn.IsClosed() }

// connect connects unless connected. A lock that was held went with the old connection.
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

// open sees that there is an open channel.
func (m *Mutex) open() (err error) {
	if m.ch == nil || m.ch.IsClosed() {
		m.ch, err = m.conn.Channel()
	}
	return err
}

// abandon gives the connection up: the broker frees what it holds.
func (m *Mutex) abandon() {
	m.held = ""
	if m.Connected() {
		m.conn.Close()
	}
	if m.prober != nil && !m.prober.IsClosed() {
		m.prober.Close()
	}
}

// lockedByAnyone has a connection that is there for a moment ask for a queue. No error says that somebody has it.
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

// probe asks the broker something on the second connection, which is opened if there is none.
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

// aside does something on a channel of its own.
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

// refused reports whether the broker said no by closing the channel, with one of these codes. The channel is
// opened again.
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

// Acquire tries to get a lock: 1 if it is held now, or 0.
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

// AcquireWithin tries to get a lock for no longer than it is told: by waiting for a message, or by asking again.
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

// Release gives the lock back.
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

// Close closes the connection, and with it releases what is held. One that breaks meanwhile is as good as closed.
func (m *Mutex) Close() error {
	m.abandon()
	return nil
}

// Queue is a mutex by an exclusive queue: whoever has it holds the lock.
type Queue struct {
	// ConnectionEach has a connection for each hold, whose end releases it.
	ConnectionEach bool
	// AsksFirst has the queue declared passively before it is claimed.
	AsksFirst bool
	// LockedIsSuccess is the bug that takes RESOURCE_LOCKED for "it is there already".
	LockedIsSuccess bool
	// ClosesChannel is the bug that closes the channel to release: the queue is the connection's, and stays.
	ClosesChannel bool
	// NotExclusive is the bug that declares the queue for all.
	NotExclusive bool
	// Pooled is the bug that keeps the connection of a hold that is released, to use it again.
	Pooled bool
	// Prober is a second connection, which looks without breaking a channel whether the lock is taken. AsksProber is the
	// bug that asks that one whether the lock is still held.
	Prober, AsksProber bool
	// LockedIsHeld is the bug that asks by another connection, which cannot tell whose the queue is: that it is locked is
	// taken for "it is mine".
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

// Token is a mutex by a message: whoever has the only one of a queue, unacknowledged, holds the lock. The first client
// makes the queue and its message while it has an exclusive queue. Only when a third queue says that they are made
// are they used: who died in between left nothing that counts.
type Token struct {
	// Subscribed has the message delivered instead of fetching it.
	Subscribed bool
	// Standing leaves the consumer there while the lock is held.
	Standing bool
	// Single has a queue with a single active consumer: who waits is sent nothing.
	Single bool
	// Quorum has a quorum queue for the message.
	Quorum bool
	// LimitedTo is the bug that gives a quorum queue a limit, if it is above 0: the message can be given back so often,
	// and once more it is gone. RabbitMQ 4.0 has one of 20 where nothing else is said.
	LimitedTo int
	// InTransaction publishes the message anew to release, and acknowledges the old one in the same transaction.
	InTransaction bool
	// ConnectionEach has a connection for each hold, whose end releases it.
	ConnectionEach bool
	// Discarded is the bug that rejects the message to release, and does not have it put back.
	Discarded bool
	// Endless is the bug that waits for the message without end.
	Endless bool
	// LateKept is the bug that forgets the message that is delivered when nobody waits for it any more.
	LateKept bool
	// Unguarded is the bug that lets two who find no token at the same time both make one.
	Unguarded bool
	// Acknowledged is the bug that acknowledges the message to release: it is gone for good.
	Acknowledged bool
	// FromMemory is the bug that asks nobody whether the lock is still held.
	FromMemory bool
	// Refetches is the bug that mends a broken channel when it verifies, and fetches the message anew.
	Refetches bool
	// NoAck is the bug that has the message delivered without acknowledgement: nobody puts back what a dead client has.
	NoAck bool
	// Assumes is the bug that takes the first consumer for the active one, and does not wait for the message.
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
	for d := range deliveries { // it came too late, or at the last moment
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
		if made { // by somebody else meanwhile
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

// arguments are those of the queue that has the message.
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

// look asks on the channel that has the message: as long as it is open, so does the client have that.
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

// Consumer is a mutex by an exclusive consumer: whoever consumes the lock's queue exclusively holds the lock.
type Consumer struct {
	// Quorum is the bug that takes a quorum queue, which has no exclusive consumers and says nothing of that.
	Quorum bool
	// NotExclusive is the bug that forgets to say so: RabbitMQ serves consumers in turn.
	NotExclusive bool
	// NotCancelled is the bug that leaves the consumer to itself: the lock stays taken.
	NotCancelled bool
	// FromMemory is the bug that asks nobody whether the lock is still held.
	FromMemory bool
	// OtherChannel is the bug that asks on another channel than the one that has the consumer.
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
	go func() { // nothing is sent there
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
