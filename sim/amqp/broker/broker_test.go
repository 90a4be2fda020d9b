package broker_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// Commands of clients are tested elsewhere: adapters/amqp/rabbitmq/testdata/facts.txt has them, for this broker and a
// real RabbitMQ. The tests here cover events that no command causes, and commands that client libraries cannot send.

const (
	a amqp.Queue = 1 + iota
	b
)

type world struct {
	*broker.Broker
	t *testing.T
}

func newWorld(t *testing.T, opts broker.Options) world {
	names := new(amqp.Names)
	names.Intern("a")
	names.Intern("b")
	return world{broker.New(names, opts), t}
}

// connect opens a connection with channel 1 open and in confirm mode.
func (w world) connect() broker.Conn {
	c := w.Connect()
	w.expect(c, amqp.Command{Method: amqp.ChannelOpen, Channel: 1}, amqp.Reply{Kind: amqp.OK})
	w.expect(c, amqp.Command{Method: amqp.ConfirmSelect, Channel: 1}, amqp.Reply{Kind: amqp.OK})
	return c
}

func (w world) expect(c broker.Conn, cmd amqp.Command, want amqp.Reply) {
	w.t.Helper()
	if got := w.Apply(c, cmd); got != want {
		w.t.Errorf("%v: got %+v, want %+v", cmd.Method, got, want)
	}
}

func (w world) declare(c broker.Conn, q amqp.Queue, flags amqp.Flags) {
	w.t.Helper()
	w.expect(c, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: q, Flags: flags}, amqp.Reply{Kind: amqp.OK})
}

func (w world) publish(c broker.Conn, q amqp.Queue, flags amqp.Flags) {
	w.t.Helper()
	w.expect(c, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: q, Flags: flags}, amqp.Reply{Kind: amqp.Ack})
}

func TestConnectTakesTheLowestFreeNumber(t *testing.T) {
	w := newWorld(t, broker.Options{})
	var got []broker.Conn
	for range 3 {
		got = append(got, w.Connect())
	}
	w.Disconnect(2)
	w.Disconnect(1)
	got = append(got, w.Connect(), w.Connect(), w.Connect())
	if want := []broker.Conn{1, 2, 3, 1, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if w.Alive(0) || w.Alive(5) || !w.Alive(4) {
		t.Error("wrong about who is there")
	}
}

func TestConnectionThatIsNotThere(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c := w.connect()
	w.Disconnect(c)
	for _, c := range []broker.Conn{0, c, 7} {
		w.expect(c, amqp.Command{Method: amqp.ConnectionOpen}, amqp.Reply{Kind: amqp.ConnectionClosed})
		w.Disconnect(c)
		w.CloseChannel(c, 1, amqp.InternalError)
		if got := w.Deliveries(c, nil); got != nil {
			t.Errorf("delivered %v", got)
		}
	}
}

// TestChannelThatIsNotOpen: a command on a channel that is not open ends the connection. adapters/amqp/rabbitmq checks
// the codes on a real RabbitMQ.
func TestChannelThatIsNotOpen(t *testing.T) {
	end := amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ChannelError}
	for _, cmds := range [][]amqp.Command{
		{{Method: amqp.ChannelOpen, Channel: 1}},
		{{Method: amqp.ChannelOpen}},
		{{Method: amqp.BasicAck, Channel: 2}},
		{{Method: amqp.ChannelClose, Channel: 2}},
		{{Method: amqp.QueueDeclare, Queue: a}},
		{{Method: amqp.ChannelClose, Channel: 1}, {Method: amqp.QueueDeclare, Channel: 1, Queue: a}},
	} {
		w := newWorld(t, broker.Options{})
		c := w.connect()
		for _, cmd := range cmds[:len(cmds)-1] {
			w.expect(c, cmd, amqp.Reply{Kind: amqp.OK})
		}
		w.expect(c, cmds[len(cmds)-1], end)
		if w.Alive(c) {
			t.Errorf("%v: the connection is still there", cmds)
		}
	}
}

func TestChannelErrorOfTheBroker(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c := w.connect()
	w.declare(c, a, amqp.Exclusive)
	w.CloseChannel(c, 1, amqp.InternalError)
	w.CloseChannel(c, 1, amqp.NotFound) // no effect, since the channel is closed already
	told := amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.InternalError}
	w.expect(c, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: a}, told)
	w.expect(c, amqp.Command{Method: amqp.BasicAck, Channel: 1}, told)
	w.expect(c, amqp.Command{Method: amqp.ChannelOpen, Channel: 1}, amqp.Reply{Kind: amqp.OK})
	w.declare(c, a, amqp.Exclusive)
	if w.Owner(a) != c {
		t.Errorf("the exclusive queue is %d's", w.Owner(a))
	}
}

func TestDisconnect(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c, other := w.connect(), w.connect()
	w.declare(c, a, amqp.Exclusive)
	w.declare(other, b, 0)
	w.publish(other, b, 0)
	w.expect(c, amqp.Command{Method: amqp.BasicGet, Channel: 1, Queue: b}, amqp.Reply{Kind: amqp.GetOK, Number: 1})
	w.Disconnect(c)
	if w.Exists(a) || w.Owner(a) != 0 || !w.Exists(b) || w.Depth(b) != 1 || w.Depth(a) != 0 {
		t.Error("the exclusive queue should be gone, and the message ready again")
	}
}

func TestRestart(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c, other := w.connect(), w.connect()
	w.declare(c, a, amqp.Durable)
	w.declare(c, b, 0)
	w.publish(c, a, amqp.Persistent)
	w.publish(c, a, 0)
	w.publish(c, a, amqp.Persistent)
	w.expect(other, amqp.Command{Method: amqp.BasicGet, Channel: 1, Queue: a}, amqp.Reply{Kind: amqp.GetOK, Number: 1, Messages: 2})
	w.Restart()
	if w.Alive(c) || w.Alive(other) || !w.Exists(a) || w.Exists(b) || w.Depth(a) != 2 {
		t.Error("expected the durable queue with its persistent messages, and nothing else")
	}
}

func TestTransientRefused(t *testing.T) {
	w := newWorld(t, broker.Options{TransientRefused: true})
	c := w.connect()
	w.declare(c, a, amqp.Durable)
	w.declare(c, b, amqp.Exclusive)
	w.expect(c, amqp.Command{Method: amqp.QueueDelete, Channel: 1, Queue: b}, amqp.Reply{Kind: amqp.OK})
	w.expect(c, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: b}, amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.InternalError})
}

func TestTime(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c := w.connect()
	if _, some := w.NextTimer(); some {
		t.Error("something is due on an empty broker")
	}
	w.Advance(5)
	w.expect(c, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: a,
		Args: amqp.Arguments{Has: amqp.HasExpires | amqp.HasMessageTTL, Expires: 100, MessageTTL: 30}}, amqp.Reply{Kind: amqp.OK})
	w.Advance(10)
	w.publish(c, a, 0)
	for _, due := range []int64{45, 105} {
		next, some := w.NextTimer()
		if !some || next != due {
			t.Fatalf("due next: %d, %v; want %d", next, some, due)
		}
		w.Advance(due - w.Now() - 1)
		if w.Depth(a) != 1 && due == 45 || !w.Exists(a) {
			t.Errorf("at %d: too early", w.Now())
		}
		w.Advance(1)
	}
	if w.Exists(a) || w.Now() != 105 {
		t.Errorf("at %d the queue should have expired", w.Now())
	}
	if next, some := w.NextTimer(); some {
		t.Errorf("%d is due on an empty broker", next)
	}
}

func TestDeliveriesAreTakenOnce(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c := w.connect()
	w.declare(c, a, 0)
	w.expect(c, amqp.Command{Method: amqp.BasicConsume, Channel: 1, Queue: a, Number: 3}, amqp.Reply{Kind: amqp.OK})
	w.publish(c, a, 0)
	got := w.Deliveries(c, nil)
	if want := []amqp.Delivery{{Channel: 1, Consumer: 3, Tag: 1}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := w.Deliveries(c, nil); len(got) > 0 {
		t.Errorf("%v again", got)
	}
}

// TestNoAllocations: a lock's commands allocate no memory on a broker that has already had as many queues and messages.
func TestNoAllocations(t *testing.T) {
	world, conns, free := lockWorld()
	other := broker.New(nil, broker.Options{})
	run := func() {
		other.CopyFrom(world)
		for _, cmd := range []amqp.Command{
			{Method: amqp.BasicPublish, Queue: 1, Flags: amqp.Mandatory},
			{Method: amqp.BasicPublish, Queue: free, Flags: amqp.Mandatory},
			{Method: amqp.QueueDeclare, Queue: free, Flags: amqp.Exclusive},
			{Method: amqp.QueueDelete, Queue: free},
			{Method: amqp.QueueDeclare, Queue: 4, Flags: amqp.Exclusive},
			{Method: amqp.ChannelOpen},
			{Method: amqp.TxSelect},
			{Method: amqp.BasicPublish, Queue: 1, Flags: amqp.Mandatory},
			{Method: amqp.TxCommit},
		} {
			cmd.Channel = 1
			other.Apply(conns[0], cmd)
		}
		other.Disconnect(conns[0])
		other.Connect()
		other.Advance(1)
		other.Restart()
		other.Reset()
	}
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestExpiredBehindTheHead: a message expires behind another one. It is dropped when the next message is published,
// even if the queue has no maximum length.
func TestExpiredBehindTheHead(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c := w.connect()
	w.declare(c, a, 0)
	for n := range uint64(2) {
		cmd := amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: a, Number: n + 1}
		if n == 1 {
			cmd.Flags = amqp.Expiring
		}
		w.expect(c, cmd, amqp.Reply{Kind: amqp.Ack})
	}
	if r := w.Apply(c, amqp.Command{Method: amqp.BasicGet, Channel: 1, Queue: a, Flags: amqp.NoAck}); r.Kind != amqp.GetOK || r.Message != 1 {
		t.Fatalf("got %+v", r)
	}
	w.expect(c, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: a, Number: 3}, amqp.Reply{Kind: amqp.Ack})
	var left []uint64
	for m := range w.Messages(a) {
		left = append(left, m.Message)
	}
	if !slices.Equal(left, []uint64{3}) || w.Depth(a) != 1 {
		t.Errorf("%v are left, %d", left, w.Depth(a))
	}
}

// TestOperatorDeletes: an operator can delete a queue of any owner. Deleting a missing queue has no effect.
func TestOperatorDeletes(t *testing.T) {
	w := newWorld(t, broker.Options{})
	c := w.connect()
	w.declare(c, a, amqp.Exclusive)
	w.Delete(b)
	if w.Delete(a); w.Exists(a) || w.Exists(b) || w.Owns(c) {
		t.Error("it is still there")
	}
}

// TestShortestConsumerTimeout: a consumer timeout of one millisecond closes the channel after one millisecond, a longer
// one later, and 0 never.
func TestShortestConsumerTimeout(t *testing.T) {
	for timeout, closed := range map[int64]bool{0: false, 1: true, 2: false} {
		w := newWorld(t, broker.Options{ConsumerTimeout: timeout})
		c := w.connect()
		w.declare(c, a, 0)
		w.publish(c, a, 0)
		w.Apply(c, amqp.Command{Method: amqp.BasicGet, Channel: 1, Queue: a})
		if changed := w.Advance(1); changed != closed || w.Broken(c, 1) == amqp.Code(0) == closed {
			t.Errorf("%d ms: changed %v, %v", timeout, changed, w.Broken(c, 1))
		}
	}
}
