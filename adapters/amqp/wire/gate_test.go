package wire_test

import (
	"context"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// holding is a gate that hands commands, and the answers to them, to the test. The test decides when they pass.
type holding struct {
	wire.Through
	commands chan *wire.Command
	answers  chan *wire.Answer // answers that settle a command
	gone     chan *wire.Conn
	free     map[frame.ID]bool // methods that this gate passes at once, without asking the test
}

func newHolding(free ...frame.ID) *holding {
	g := &holding{commands: make(chan *wire.Command, 64), answers: make(chan *wire.Answer, 64), gone: make(chan *wire.Conn, 8), free: map[frame.ID]bool{}}
	for _, id := range free {
		g.free[id] = true
	}
	return g
}

func (g *holding) Arrived(c *wire.Command) {
	if g.free[c.Method.ID()] {
		c.Pass()
		return
	}
	g.commands <- c
}

func (g *holding) Answered(a *wire.Answer) {
	if len(a.Settles) == 1 && !g.free[a.Settles[0].Method.ID()] {
		g.answers <- a
		return
	}
	a.Send()
}

func (g *holding) ClientGone(c *wire.Conn, _ error) { g.gone <- c }

var opening = []frame.ID{frame.ConnectionOpenID, frame.ChannelOpenID, frame.ConnectionCloseID}

// backends are the three kinds of brokers behind a gate, by name.
func backends(t *testing.T) map[string]wire.Backend {
	return map[string]wire.Backend{
		"simulated": wire.NewSimulated(wire.SimulatedOptions{}),
		"proxy":     &wire.Proxy{Address: hostOf(t, rabbitmqtest.URL(t))},
		"mirror":    wire.NewMirror(&wire.Proxy{Address: hostOf(t, rabbitmqtest.URL(t))}, rabbitmqtest.Shared(t).Version),
	}
}

// queueName is a queue name that no other run uses. Its prefix marks it as created by lockproof.
func queueName(t *testing.T) string { return stress.Prefix() + t.Name() }

// Commands wait at the gate. The test decides in which order two clients reach the broker and when they are answered.
// One answer is lost.
func TestGate(t *testing.T) {
	for name, backend := range backends(t) {
		t.Run(name, func(t *testing.T) {
			gate := newHolding(opening...)
			server := serve(t, wire.Config{Backend: backend, Gate: gate})
			a, b := dial(t, server.Addr().String()).login(), dial(t, server.Addr().String()).login()
			queue := queueName(t)
			declare := &frame.QueueDeclare{Queue: queue, Exclusive: true}
			for _, p := range []*peer{a, b} {
				p.send(1, &frame.ChannelOpen{})
				p.expect(frame.ChannelOpenOkID)
				p.send(1, declare)
			}
			first, second := <-gate.commands, <-gate.commands
			if first.Conn.Number != 1 {
				first, second = second, first
			}
			// The second connection's command passes first.
			second.Pass()
			won := <-gate.answers
			first.Pass()
			lost := <-gate.answers
			if won.Settles[0] != second || won.Reply.Kind != amqp.OK || lost.Reply != (amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked}) {
				t.Errorf("the first to reach the broker got %+v, the other %+v", won.Reply, lost.Reply)
			}
			lost.Send()
			if m, err := a.next(); err != nil || m.method.(*frame.ChannelClose).ReplyCode != 405 {
				t.Errorf("got %v %v", m, err)
			}
			won.Lose()
			// The client that never received its answer dies. The broker does not notice before Release.
			b.socket.Close()
			dead := <-gate.gone
			a.send(1, &frame.ChannelOpen{})
			a.expect(frame.ChannelOpenOkID)
			try := func() amqp.Reply {
				a.send(1, declare)
				(<-gate.commands).Pass()
				answer := <-gate.answers
				answer.Send()
				a.next()
				if answer.Reply.Kind == amqp.ChannelClosed {
					a.send(1, &frame.ChannelOpen{})
					a.expect(frame.ChannelOpenOkID)
				}
				return answer.Reply
			}
			if r := try(); r.Code != amqp.ResourceLocked {
				t.Errorf("the dead client's queue is free too early: %+v", r)
			}
			dead.Release()
			deadline := time.Now().Add(patience)
			for r := try(); r.Kind != amqp.OK; r = try() {
				if name == "simulated" || time.Now().After(deadline) {
					t.Fatalf("the dead client's queue is not free: %+v", r)
				}
			}
		})
	}
}

// A client that writes several commands before it is answered is marked as pipelining. They count as one round trip.
func TestPipelined(t *testing.T) {
	gate := newHolding(append(opening, frame.ConfirmSelectID)...)
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: gate})
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{})
	p.expect(frame.ChannelOpenOkID)
	p.send(1, &frame.ConfirmSelect{})
	p.expect(frame.ConfirmSelectOkID)
	before := server.Counts()
	for range 2 {
		p.publish(1, &frame.BasicPublish{RoutingKey: "nowhere", Mandatory: true}, &frame.Content{Body: make([]byte, 10_000)})
	}
	p.send(1, &frame.QueueDeclare{Queue: "q"})
	var held []*wire.Command
	for range 3 {
		held = append(held, <-gate.commands)
	}
	if held[0].Pipelined || !held[1].Pipelined || !held[2].Pipelined {
		t.Errorf("pipelined: %v %v %v", held[0].Pipelined, held[1].Pipelined, held[2].Pipelined)
	}
	for _, c := range held {
		c.Pass()
		a := <-gate.answers
		if len(a.Settles) != 1 || a.Settles[0] != c {
			t.Errorf("%s is settled by an answer to %v", c, a.Settles)
		}
		if c.Method.ID() == frame.BasicPublishID && (a.Reply != amqp.Reply{Kind: amqp.Ack, Code: amqp.NoRoute, Returned: 1}) {
			t.Errorf("a mandatory message to nowhere was answered with %+v", a.Reply)
		}
		a.Send()
	}
	p.expect(frame.QueueDeclareOkID)
	counts := server.Counts()
	publish := counts.Method(frame.BasicPublishID)
	if got := counts.RoundTrips - before.RoundTrips; got != 1 || publish.Received != 2 || publish.In.Frames != 2*5 || publish.In.Bytes < 20_000 {
		t.Errorf("%d round trips, %+v", got, publish)
	}
	if r := counts.Method(frame.BasicReturnID); r.Sent != 2 || counts.ChannelsOpened != 1 || counts.Opened != 1 {
		t.Errorf("returned: %+v; %d channels, %d connections", r, counts.ChannelsOpened, counts.Opened)
	}
}

// Commands of one channel cannot pass out of order or twice.
func TestOrder(t *testing.T) {
	gate := newHolding(opening...)
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: gate})
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: "a"}, &frame.QueueDeclare{Queue: "b"})
	first, second := <-gate.commands, <-gate.commands
	panics := func(do func()) (did bool) {
		defer func() { did = recover() != nil }()
		do()
		return false
	}
	if !panics(second.Pass) {
		t.Error("the second command passed before the first")
	}
	first.Pass()
	if !panics(first.Pass) {
		t.Error("a command passed twice")
	}
	second.Discard()
}

// amqp091-go works with each kind of backend.
func TestLibraries(t *testing.T) {
	for name, backend := range backends(t) {
		t.Run(name, func(t *testing.T) {
			server := serve(t, wire.Config{Backend: backend})
			conn, err := amqp091.Dial(server.URL())
			if err != nil {
				t.Fatal(err)
			}
			use(t, conn)
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// use does what typical applications do with a connection: declare, publish, consume and acknowledge.
func use(t *testing.T, conn *amqp091.Connection) {
	ch, err := conn.Channel()
	must(t, err)
	must(t, ch.Confirm(false))
	must(t, ch.Qos(2, 0, false))
	q, err := ch.QueueDeclare("", false, false, true, false, nil)
	must(t, err)
	returns := ch.NotifyReturn(make(chan amqp091.Return, 1))
	confirm, err := ch.PublishWithDeferredConfirmWithContext(context.Background(), "", "nowhere at all", true, false, amqp091.Publishing{Body: []byte("x")})
	must(t, err)
	if !confirm.Wait() || (<-returns).ReplyCode != amqp091.NoRoute {
		t.Error("a mandatory message to nowhere was not acked and returned")
	}
	deliveries, err := ch.Consume(q.Name, "", false, false, false, false, nil)
	must(t, err)
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = byte(i)
	}
	for range 3 {
		confirm, err := ch.PublishWithDeferredConfirmWithContext(context.Background(), "", q.Name, true, false,
			amqp091.Publishing{Body: big, Headers: amqp091.Table{"n": int32(1)}, ContentType: "x/y"})
		must(t, err)
		d := <-deliveries
		if string(d.Body) != string(big) || d.Headers["n"] != int32(1) || d.ContentType != "x/y" || !confirm.Wait() {
			t.Errorf("a message of %d bytes arrived with %d, %v", len(big), len(d.Body), d.Headers)
		}
		must(t, d.Ack(false))
	}
	_, err = ch.QueueDeclarePassive("nowhere at all", false, false, false, false, nil)
	if e, ok := err.(*amqp091.Error); !ok || e.Code != 404 {
		t.Errorf("a passive declare of a queue that is not there: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The simulated broker's time moves only by Advance: a queue expires at the exact millisecond.
func TestTime(t *testing.T) {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	p := dial(t, serve(t, wire.Config{Backend: b}).Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: "q", Arguments: with("x-expires", int32(1000))})
	p.expect(frame.QueueDeclareOkID)
	there := func() (yes bool) {
		b.View(func(b *broker.Broker, queue func(string) amqp.Queue) { yes = b.Exists(queue("q")) })
		return yes
	}
	b.Advance(999)
	if !there() {
		t.Error("the queue expired early")
	}
	b.Advance(1)
	if there() {
		t.Error("the queue did not expire")
	}
}

// A broker that follows the clock expires a message without any command.
func TestClock(t *testing.T) {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.FollowClock(ctx) })
	defer running.Wait()
	defer cancel()
	p := dial(t, serve(t, wire.Config{Backend: b}).Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: "q", Arguments: with("x-message-ttl", int32(1))})
	p.publish(1, &frame.BasicPublish{RoutingKey: "q"}, &frame.Content{Body: []byte("soon gone")})
	p.expect(frame.QueueDeclareOkID)
	for left := 1; left > 0; {
		b.View(func(b *broker.Broker, queue func(string) amqp.Queue) { left = b.Depth(queue("q")) })
	}
}

// When the broker restarts, its clients receive connection.close. Only durable queues are left.
func TestRestart(t *testing.T) {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	server := serve(t, wire.Config{Backend: b})
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: "d", Durable: true}, &frame.QueueDeclare{Queue: "t"})
	p.expect(frame.QueueDeclareOkID)
	p.expect(frame.QueueDeclareOkID)
	b.Restart()
	if m, err := p.next(); err != nil || m.method.(*frame.ConnectionClose).ReplyCode != 320 {
		t.Errorf("%v %v", m, err)
	}
	b.View(func(b *broker.Broker, queue func(string) amqp.Queue) {
		if !b.Exists(queue("d")) || b.Exists(queue("t")) {
			t.Error("the durable queue is gone, or the transient one is not")
		}
	})
}

// A schedule can close a channel whose client has made no error.
func TestChannelError(t *testing.T) {
	b := wire.NewSimulated(wire.SimulatedOptions{})
	gate := newHolding(opening...)
	p := dial(t, serve(t, wire.Config{Backend: b, Gate: gate}).Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: "q"})
	held := <-gate.commands
	b.CloseChannel(held.Conn, 1, amqp.InternalError)
	held.Pass() // without effect: the channel is closed
	(<-gate.answers).Send()
	p.expect(frame.ChannelOpenOkID)
	if m, err := p.next(); err != nil || m.method.(*frame.ChannelClose).ReplyCode != 541 { // next answers the close
		t.Errorf("%v %v", m, err)
	}
}
