package wire

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// Mirror is a real broker as a [Backend], with a simulated replica that gets the same commands. The real broker answers
// the clients. Questions about queues are answered from the replica. This is correct as long as both brokers reply
// alike. If they don't, [Mirror.Disagreement] says so.
//
// Commands go to the real broker one at a time, whatever their connection, and have taken effect when [Command.Pass]
// returns. If a command has no answer, the mirror sends another command on the same channel that has an answer but no
// effect, and waits for that. The mirror closes connections with connection.close, so that the moment of release is
// known: the broker notices a closed socket only some milliseconds later.
//
// Time stands still in the replica, so the two disagree about queues and messages that expire. A quorum queue always
// disagrees: a message that is returned to it reappears only some moments after the command has taken effect. If a
// client leaves a name to the broker, the real broker chooses it and the replica uses the same name.
type Mirror struct {
	proxy   Proxy
	replica *Simulated
	turn    sync.Mutex // held while one command or close is exchanged with the real broker

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

// Verbatim is true: the mirror forwards clients' frames unchanged.
func (m *Mirror) Verbatim() bool { return true }

// Observe shows the replica's state, which the real broker should have as well.
func (m *Mirror) Observe(observe func(State)) { m.replica.Observe(observe) }

// isQuorum reports whether the broker should have a quorum queue with the given name.
func (m *Mirror) isQuorum(name string) (is bool) {
	m.replica.View(func(b *broker.Broker, queue func(string) amqp.Queue) {
		_, args := b.Declared(queue(name))
		is = args.Has&amqp.Quorum != 0
	})
	return is
}

// Disagreement describes the first difference between the replies of the real broker and the replica; "" if there is
// none.
func (m *Mirror) Disagreement() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disagreement
}

// Agreed is the number of replies that were the same from both brokers.
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

// Forget removes a queue from the replica. The caller has deleted it on the real broker by other means.
func (m *Mirror) Forget(name string) { m.replica.Delete(name) }

// Connect connects a client to both brokers.
func (m *Mirror) Connect(c *Conn) (_ Session, err error) {
	x := &mirrorSession{mirror: m, expected: make(map[uint64]amqp.Reply), answer: make(chan struct{}, 1)}
	x.replica = &simSession{s: m.replica, c: c, to: x, state: opening, channelMax: channelMax}
	x.real, err = m.proxy.connect(c, x.ended)
	return x, err
}

// CloseChannel makes the broker close a client's channel because of an error: it declares an existing exchange with
// another type. An unknown delivery tag would not do: the driver bunny does not take that error as an answer, so its
// calls would wait forever. If the channel is not open, nothing happens, and the result is false.
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
