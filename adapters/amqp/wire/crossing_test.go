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

// crossing is what a client may have written behind a command for which the broker closes the channel.
type crossing struct {
	name   string
	behind []Method
	comes  int  // messages that answer all of it
	twice  bool // the broker closes it twice, and what RabbitMQ makes of the client's second close-ok is a race
}

// For one command the broker closes the channel. The crossings are the commands that a client may have written after it,
// before it learns of the close. (An open ends the connection, but RabbitMQ's two goodbyes come in any order.)
var crossings = []crossing{
	{"nothing", nil, 1, false},
	{"a close", []Method{closeIt}, 2, false},
	{"a command and a close", []Method{passiveX, closeIt}, 2, false},
	{"a close and a command", []Method{closeIt, passiveX}, 2, false},
	{"two closes", []Method{closeIt, closeIt}, 3, false},
	{"a command on the queue declared last, where there is none", []Method{&QueueDelete{}, closeIt}, 3, true},
	{"a declare without a name", []Method{&QueueDeclare{}, closeIt}, 2, false},
}

// racing is how often more is looked for what RabbitMQ answers in a race, at most.
const racing = 5

// TestCrossing: a client's channel.close that crosses the broker's is answered, as RabbitMQ does, and the connection
// continues. Other commands on their way are ignored until the client has confirmed the close.
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

// crossAgain repeats cross while nothing comes from RabbitMQ. RabbitMQ ends a channel at the client's close-ok, and
// drops unwritten output: an answer to a close just before it is lost now and then (B28). A mirror passes the
// commands on in this way, since it has waited for the broker's close with the later commands.
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

// cross has a channel closed from both ends, and says what a client is answered then, and afterwards if that is asked
// for.
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

// TestCrossingAtTheGate: so it is where the client's channel.close waits at the gate when the broker closes
// the channel. It has been answered then, before the client uses the channel's number again.
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
			held.Pass() // goes nowhere
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

// TestClosedTwice: a client that was told twice that its channel is closed, and says twice that it knows, can open
// it again.
func TestClosedTwice(t *testing.T) {
	address := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})}).Addr().String()
	lines := cross(t, address, []Method{&QueueDelete{}, closeIt}, 3, true)
	if last := lines[len(lines)-1]; last != "1 basic.qos-ok {}" {
		t.Errorf("at last: %s", last)
	}
}
