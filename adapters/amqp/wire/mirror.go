package wire

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// Mirror is a real broker as a [Backend], with a simulated replica that gets the same commands. The real broker answers the
// clients. Its queues are looked up in the replica, which is correct as long as both answer alike. If they don't,
// [Mirror.Disagreement] says so.
//
// Commands go to the real broker one at a time, whatever their connection, and have taken effect when [Command.Pass]
// returns. If a command has no answer, the mirror sends another one on the same channel, which has an answer and no effect.
// The mirror closes connections with connection.close, so that the moment of release is known: the broker notices a closed
// socket only some milliseconds later.
//
// Time stands still in the replica, so the two disagree about queues and messages that expire. A quorum queue always
// disagrees: a message that is returned to it reappears only some moments after the command has taken effect. If the broker
// chooses a name, the real broker chooses it, and the replica uses the same.
type Mirror struct {
	proxy   Proxy
	replica *Simulated
	turn    sync.Mutex // serialises the exchanges with the real broker

	mu           sync.Mutex
	agreed       int
	disagreement string
}

// answerLimit is the maximum time for a real broker to answer.
const answerLimit = 5 * time.Second

// NewMirror is a mirror of the broker behind a proxy. The simulated broker behaves like the given version, such as "RabbitMQ
// 4.0.5".
func NewMirror(p *Proxy, version string) *Mirror {
	return &Mirror{proxy: *p, replica: NewSimulated(SimulatedOptions{Broker: broker.Like(version)})}
}

// Verbatim is true: what clients send is forwarded unchanged.
func (m *Mirror) Verbatim() bool { return true }

// Observe shows the state that the broker should have.
func (m *Mirror) Observe(observe func(State)) { m.replica.Observe(observe) }

// isQuorum reports whether the broker should have a quorum queue with the given name.
func (m *Mirror) isQuorum(name string) (is bool) {
	m.replica.View(func(b *broker.Broker, queue func(string) amqp.Queue) {
		_, args := b.Declared(queue(name))
		is = args.Has&amqp.Quorum != 0
	})
	return is
}

// Disagreement describes the first difference between the two brokers, "" if there is none.
func (m *Mirror) Disagreement() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disagreement
}

// Agreed is the number of replies that were compared and equal.
func (m *Mirror) Agreed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.agreed
}

func (m *Mirror) agree() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agreed++
}

func (m *Mirror) disagree(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.disagreement == "" {
		m.disagreement = fmt.Sprintf(format, args...)
	}
}

// Forget removes a queue from the replica, as the queue was deleted otherwise.
func (m *Mirror) Forget(name string) { m.replica.Delete(name) }

// Connect connects to the real broker.
func (m *Mirror) Connect(c *Conn) (_ Session, err error) {
	x := &mirrorSession{mirror: m, expected: make(map[uint64]amqp.Reply), answer: make(chan struct{}, 1)}
	x.replica = &simSession{s: m.replica, c: c, to: x, state: opening, channelMax: channelMax}
	x.real, err = m.proxy.connect(c, x.ended)
	return x, err
}

// CloseChannel makes the broker close a client's channel because of an error: the declaration of an exchange with another
// type. An unknown delivery tag would not do: bunny's calls then wait forever, as they do not take that error as an answer.
// If the channel is not open, nothing happens, and the result is false.
func (m *Mirror) CloseChannel(c *Conn, channel uint16, code amqp.Code) bool {
	x, ok := c.session.(*mirrorSession)
	if !ok {
		return false
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	if !m.replica.CloseChannel(c, channel, code) {
		return false
	}
	x.exchange("to close a channel", func(a *Answer) bool {
		return a.Channel == channel && a.Method.ID() == frame.ChannelCloseID
	}, func() {
		x.real.out.add(func(b []byte) []byte {
			return frame.AppendMethod(b, channel, &frame.ExchangeDeclare{Exchange: "amq.direct", Type: "fanout", Durable: true})
		})
	})
	return true
}
