package wire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
)

// mirror starts a mirror of the real broker and a server in front of it.
func mirror(t *testing.T, gate wire.Gate) (*wire.Mirror, *wire.Server) {
	m := wire.NewMirror(&wire.Proxy{Address: hostOf(t, rabbitmqtest.URL(t))}, rabbitmqtest.Shared(t).Version)
	return m, serve(t, wire.Config{Backend: m, Gate: gate})
}

// Through a mirror, clients receive the same replies as from the real broker, and the replica agrees with them.
func TestMirror(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out many executions in turn")
	}
	real := hostOf(t, rabbitmqtest.URL(t))
	run := time.Now().UnixNano()
	for i, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			m, server := mirror(t, nil)
			want := perform(t, real, fmt.Sprintf("wire-%d-%d-", run, i), s)
			differ(t, "mirror", perform(t, server.Addr().String(), fmt.Sprintf("wire-%d-%d-m-", run, i), s), want)
			if d := m.Disagreement(); d != "" && !strings.Contains(d, "quorum queues are judged") || m.Agreed() == 0 {
				t.Error(d, m.Agreed(), "replies agreed")
			}
		})
	}
}

// When Release returns, the real broker has released what the connection had: the next client can declare the exclusive
// queue.
func TestMirrorEnd(t *testing.T) {
	gate := newHolding(opening...)
	m, server := mirror(t, gate)
	queue := queueName(t)
	declare := &frame.QueueDeclare{Queue: queue, Exclusive: true}
	for range 20 {
		p := dial(t, server.Addr().String()).login()
		p.send(1, &frame.ChannelOpen{}, declare)
		c := <-gate.commands
		c.Pass()
		if a := <-gate.answers; a.Reply.Kind != amqp.OK {
			t.Fatalf("declaring the queue: %s", a.Reply)
		}
		m.Observe(func(v wire.State) {
			if v.Owner(queue) != c.Conn {
				t.Error("the queue is not seen as the client's")
			}
		})
		p.socket.Close()
		(<-gate.gone).Release()
	}
	if d := m.Disagreement(); d != "" {
		t.Error(d)
	}
}

// A command without a reply has taken effect when Pass returns. Here two clients return and fetch one message in turn;
// without the mirror's extra question the message was sometimes missing.
func TestMirrorUnanswered(t *testing.T) {
	gate := newHolding(append(opening, frame.QueueDeclareID, frame.ConfirmSelectID, frame.BasicPublishID, frame.BasicGetID)...)
	m, server := mirror(t, gate)
	queue := queueName(t)
	defer func() { // the queue is not exclusive, so it must be deleted
		p := dial(t, hostOf(t, rabbitmqtest.URL(t))).login()
		p.send(1, &frame.ChannelOpen{}, &frame.QueueDelete{Queue: queue})
		p.expect(frame.QueueDeleteOkID)
		p.logout()
	}()
	clients := []*peer{dial(t, server.Addr().String()).login(), dial(t, server.Addr().String()).login()}
	for _, p := range clients {
		p.send(1, &frame.ChannelOpen{})
		p.expect(frame.ChannelOpenOkID)
	}
	clients[0].send(1, &frame.QueueDeclare{Queue: queue}, &frame.ConfirmSelect{})
	clients[0].publish(1, &frame.BasicPublish{RoutingKey: queue}, &frame.Content{Body: []byte("token")})
	clients[0].expect(frame.QueueDeclareOkID)
	clients[0].expect(frame.ConfirmSelectOkID)
	clients[0].expect(frame.BasicAckID)
	for i := range 400 {
		p := clients[i%2]
		p.send(1, &frame.BasicGet{Queue: queue})
		p.expect(frame.BasicGetOkID)
		p.send(1, &frame.BasicNack{DeliveryTag: uint64(i/2 + 1), Requeue: true})
		(<-gate.commands).Pass()
	}
	if d := m.Disagreement(); d != "" {
		t.Error(d)
	}
}

// The replica uses the names of queues and consumers that the real broker chooses.
func TestMirrorNames(t *testing.T) {
	m, server := mirror(t, nil)
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Exclusive: true})
	p.expect(frame.ChannelOpenOkID)
	queue := p.expect(frame.QueueDeclareOkID).(*frame.QueueDeclareOk).Queue
	p.send(1, &frame.QueueDeclare{Queue: queue, Passive: true}, &frame.BasicConsume{Queue: queue, Exclusive: true})
	p.expect(frame.QueueDeclareOkID)
	tag := p.expect(frame.BasicConsumeOkID).(*frame.BasicConsumeOk).ConsumerTag
	p.send(1, &frame.BasicCancel{ConsumerTag: tag}, &frame.BasicConsume{Queue: queue, Exclusive: true}, &frame.QueueDelete{Queue: queue})
	p.expect(frame.BasicCancelOkID)
	p.expect(frame.BasicConsumeOkID)
	p.logout()
	if d := m.Disagreement(); d != "" {
		t.Error(d)
	}
}

// The mirror's extra channel.flow, by which it waits for a command without a reply, is invisible to clients: they see a
// refused basic.nack, and the answer to their own channel.flow.
func TestMirrorFence(t *testing.T) {
	m, server := mirror(t, nil)
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.BasicNack{DeliveryTag: 7})
	p.expect(frame.ChannelOpenOkID)
	p.expect(frame.ChannelCloseID)
	p.send(1, &frame.ChannelOpen{}, &frame.ChannelFlow{Active: true}) // the peer has acknowledged the close
	p.expect(frame.ChannelOpenOkID)
	p.expect(frame.ChannelFlowOkID)
	p.logout()
	if d := m.Disagreement(); d != "" {
		t.Error(d)
	}
}

// CloseChannel makes the real broker close a channel with an error that all drivers accept as an answer to any command.
func TestMirrorChannelError(t *testing.T) {
	gate := newHolding(opening...)
	m, server := mirror(t, gate)
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: queueName(t)})
	held := <-gate.commands
	held.Discard()
	if !m.CloseChannel(held.Conn, 1, amqp.PreconditionFailed) {
		t.Error("the channel is not known to be open")
	}
	a := <-gate.answers
	a.Send()
	closed := p.expect(frame.ChannelCloseID).(*frame.ChannelClose)
	if a.Reply.Code != amqp.PreconditionFailed || strings.Contains(closed.ReplyText, "delivery tag") {
		t.Errorf("got %s, %q", a.Reply, closed.ReplyText)
	}
	if m.CloseChannel(held.Conn, 1, amqp.PreconditionFailed) {
		t.Error("the channel is closed twice")
	}
	if d := m.Disagreement(); d != "" {
		t.Error(d)
	}
}

// Using a quorum queue counts as a disagreement, because the replica is ahead of the real broker there.
func TestMirrorQuorum(t *testing.T) {
	m, server := mirror(t, nil)
	queue := queueName(t)
	p := dial(t, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: queue, Durable: true, Arguments: asQuorum}, &frame.QueueDelete{Queue: queue})
	p.expect(frame.ChannelOpenOkID)
	p.expect(frame.QueueDeclareOkID)
	p.expect(frame.QueueDeleteOkID)
	if d := m.Disagreement(); !strings.Contains(d, "quorum queue '"+queue+"'") {
		t.Errorf("got %q", d)
	}
}

// The mirror notices when another client deletes a queue on the real broker.
func TestMirrorDisagrees(t *testing.T) {
	m, server := mirror(t, nil)
	queue := queueName(t)
	p, stranger := dial(t, server.Addr().String()).login(), dial(t, hostOf(t, rabbitmqtest.URL(t))).login()
	p.send(1, &frame.ChannelOpen{}, &frame.QueueDeclare{Queue: queue})
	p.expect(frame.ChannelOpenOkID)
	p.expect(frame.QueueDeclareOkID)
	stranger.send(1, &frame.ChannelOpen{}, &frame.QueueDelete{Queue: queue})
	stranger.expect(frame.ChannelOpenOkID)
	stranger.expect(frame.QueueDeleteOkID)
	p.send(1, &frame.QueueDeclare{Queue: queue, Passive: true})
	p.expect(frame.ChannelCloseID)
	if d := m.Disagreement(); !strings.Contains(d, "queue.declare") || !strings.Contains(d, "404 NOT_FOUND") {
		t.Errorf("got %q", d)
	}
}
