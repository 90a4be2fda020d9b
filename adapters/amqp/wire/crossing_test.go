package wire_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
)

var closeIt = &ChannelClose{ReplyCode: 200}

// crossing is a list of methods that a client has sent after a command for which the broker closes the channel.
type crossing struct {
	name   string
	behind []Method
	comes  int  // number of messages that the broker sends as answers
	twice  bool // the broker closes the channel twice; RabbitMQ's reaction to the client's second close-ok is a race
}

// crossings are the commands that a client may have sent before it learns that the broker has closed its channel. An
// open is left out: it ends the connection, and RabbitMQ sends its two closes in any order.
var crossings = []crossing{
	{"nothing", nil, 1, false},
	{"a close", []Method{closeIt}, 2, false},
	{"a command and a close", []Method{passiveX, closeIt}, 2, false},
	{"a close and a command", []Method{closeIt, passiveX}, 2, false},
	{"two closes", []Method{closeIt, closeIt}, 3, false},
	{"a command on the queue declared last, where there is none", []Method{&QueueDelete{}, closeIt}, 3, true},
	{"a declare without a name", []Method{&QueueDeclare{}, closeIt}, 2, false},
}

// racing is the maximum number of repetitions if RabbitMQ does not answer because of a race.
const racing = 5

// The simulated broker and the proxy behave like RabbitMQ when a client's channel.close crosses the broker's: the
// client's close is answered and the connection continues. Other commands are ignored until the client has confirmed
// the broker's close.
func TestCrossing(t *testing.T) {
	real := hostOf(t, rabbitmqtest.URL(t))
	for _, c := range crossings {
		t.Run(c.name, func(t *testing.T) {
			want := crossAgain(t, real, &c, true)
			for name, backend := range backends(t) {
				_, simulated := backend.(*wire.Simulated)
				differ(t, name, crossAgain(t, serve(t, wire.Config{Backend: backend}).Addr().String(), &c, !simulated), want)
				if m, ok := backend.(*wire.Mirror); ok && !c.twice && m.Disagreement() != "" {
					t.Error(m.Disagreement())
				}
			}
		})
	}
}

// crossAgain repeats cross up to racing times while RabbitMQ does not answer. RabbitMQ ends a channel at the client's
// close-ok and drops unwritten output, so an answer just before it is sometimes lost (B28). A mirror can trigger this
// as well: it waits for the broker's close before it passes the later commands.
func crossAgain(t *testing.T, address string, c *crossing, real bool) []string {
	lines := cross(t, address, c.behind, c.comes, !c.twice)
	for range racing {
		if !real || !slices.Contains(lines, "silence") {
			break
		}
		t.Logf("%s: nothing came, tried again", c.name)
		lines = cross(t, address, c.behind, c.comes, !c.twice)
	}
	return lines
}

// cross makes the broker and the client close a channel at the same time. It returns what the client receives and, if
// afterwards is set, the answers on the reopened channel.
func cross(t *testing.T, address string, behind []Method, comes int, afterwards bool) (lines []string) {
	p := dial(t, address).login()
	p.prefix = "nowhere-"
	p.send(1, &ChannelOpen{})
	p.expect(ChannelOpenOkID)
	p.send(1, append([]Method{passiveX}, behind...)...)
	for range comes {
		m, err := p.next()
		if err != nil {
			return append(lines, ending(err))
		}
		lines = append(lines, p.text(m))
	}
	if !afterwards {
		return lines
	}
	defer p.logout()
	p.send(1, &ChannelOpen{}, &BasicQos{})
	return append(lines, p.until(1, BasicQosOkID)...)
}

// If the broker closes a channel while the client's channel.close waits at the gate, the client's close is answered at
// once. The client can then use the channel's number again.
func TestCrossingAtTheGate(t *testing.T) {
	for name, backend := range backends(t) {
		t.Run(name, func(t *testing.T) {
			gate := newHolding(opening...)
			p := dial(t, serve(t, wire.Config{Backend: backend, Gate: gate}).Addr().String()).login()
			p.prefix = "nowhere-"
			p.send(1, &ChannelOpen{}, passiveX, closeIt)
			passive, held := <-gate.commands, <-gate.commands
			passive.Pass()
			p.expect(ChannelOpenOkID)
			for _, want := range []ID{ChannelCloseID, ChannelCloseOkID} {
				m, err := p.next()
				if err != nil || m.method.ID() != want {
					t.Fatalf("expected %s, got %v, %v", want, m, err)
				}
			}
			p.send(1, &ChannelOpen{}, &QueueDeclare{Queue: queueName(t), Exclusive: true})
			p.expect(ChannelOpenOkID)
			declare := <-gate.commands
			held.Pass() // without effect: the channel is closed
			declare.Pass()
			if a := <-gate.answers; len(a.Settles) != 1 || a.Settles[0] != declare || a.Reply.Kind != amqp.OK {
				t.Errorf("the channel's number is used again, and a declare on it is answered %s", a.Reply)
			} else {
				a.Send()
			}
			p.expect(QueueDeclareOkID)
		})
	}
}

// A client that receives two closes of a channel and acknowledges both can open the channel again.
func TestClosedTwice(t *testing.T) {
	address := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})}).Addr().String()
	lines := cross(t, address, []Method{&QueueDelete{}, closeIt}, 3, true)
	if last := lines[len(lines)-1]; last != "1 basic.qos-ok {}" {
		t.Errorf("at last: %s", last)
	}
}
