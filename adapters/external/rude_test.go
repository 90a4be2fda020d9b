package external_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// rude starts clients that say to the broker what a script says, one byte a deed, and never wait for an answer.
// The bytes of a call come from the script's beginning again where it is over.
type rude struct {
	script []byte
	deeds  int // of each call
}

func (s rude) Start(context.Context, int) (external.Client, error) {
	return &rudeClient{rude: s}, nil
}

// rudeClient is one of them.
type rudeClient struct {
	rude
	address string
	at      int
	tasks   sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func (c *rudeClient) Initialize(_ context.Context, in external.Setup) (external.About, error) {
	u, err := url.Parse(in.URL)
	if err != nil {
		return external.About{}, err
	}
	c.address = u.Host
	c.connect()
	c.connect()
	return external.About{Name: "rude", Locks: []lock.Kind{lock.Mutex}, Operations: lock.Mutex.Operations()}, nil
}

// connect opens a connection and a channel, in one breath.
func (c *rudeClient) connect() net.Conn {
	socket, err := net.Dial("tcp", c.address)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	c.conns = append(c.conns, socket)
	c.mu.Unlock()
	c.tasks.Go(func() { io.Copy(io.Discard, socket) })
	socket.Write(hello())
	return socket
}

// hello is what opens a connection and a channel.
func hello() []byte {
	b := append([]byte{}, frame.ProtocolHeader[:]...)
	b = frame.AppendMethod(b, 0, &frame.ConnectionStartOk{Mechanism: "PLAIN", Response: "\x00guest\x00guest", Locale: "en_US"})
	b = frame.AppendMethod(b, 0, &frame.ConnectionTuneOk{ChannelMax: 7, FrameMax: 4096})
	b = frame.AppendMethod(b, 0, &frame.ConnectionOpen{VirtualHost: "/"})
	return frame.AppendMethod(b, 1, &frame.ChannelOpen{})
}

// behave declares a queue on a connection of its own, and waits for the answer.
func (c *rudeClient) behave(name string) {
	socket, err := net.Dial("tcp", c.address)
	if err != nil {
		return
	}
	defer socket.Close()
	b := frame.AppendMethod(hello(), 1, &frame.QueueDeclare{Queue: name})
	socket.Write(frame.AppendMethod(b, 0, &frame.ConnectionClose{ReplyCode: 200}))
	io.Copy(io.Discard, socket)
}

// message is a message to nowhere.
func message(channel uint16) []byte {
	b := frame.AppendMethod(nil, channel, &frame.BasicPublish{RoutingKey: "nowhere", Mandatory: true})
	return frame.AppendContent(b, channel, &frame.Content{Body: []byte("x")}, 4096)
}

// Call does the next deeds of the script, and answers what the last of them says.
func (c *rudeClient) Call(_ context.Context, op lock.Op, p external.Params) (lock.Result, error) {
	if !strings.HasSuffix(p.Name, "jobs") { // outside of scenarios they behave, or there would be none
		c.behave(p.Name)
		return lock.Result{Outcome: lock.Done}, nil
	}
	last := byte(1)
	for range c.deeds {
		if len(c.script) > 0 {
			last = c.script[c.at%len(c.script)]
			c.at++
			c.do(last, p.Name)
		}
	}
	r := lock.Result{Outcome: lock.Done, Held: last&1 == 1}
	if op == lock.Acquire && r.Held {
		r.Slot = 1
	}
	return r, nil
}

// do does one deed: the low bits say what, the high ones on which connection and channel.
func (c *rudeClient) do(deed byte, name string) {
	c.mu.Lock()
	conns := c.conns
	c.mu.Unlock()
	socket, channel := conns[int(deed>>5)%len(conns)], uint16(deed>>7+1)
	if socket == nil {
		return
	}
	say := func(channel uint16, m frame.Method) { socket.Write(frame.AppendMethod(nil, channel, m)) }
	switch deed & 31 {
	case 0, 1:
		socket.Write(message(channel))
	case 2, 3:
		say(channel, &frame.QueueDeclare{Queue: name, Exclusive: true})
	case 4:
		say(channel, &frame.QueueDelete{Queue: name})
	case 5:
		say(channel, &frame.ConfirmSelect{})
	case 6:
		say(channel, &frame.ChannelOpen{})
	case 7:
		say(channel, &frame.ChannelClose{ReplyCode: 200})
	case 8, 9:
		say(0, &frame.ConnectionClose{ReplyCode: 200})
	case 10, 11, 12:
		if len(conns) < 8 {
			c.connect()
		}
	case 13:
		socket.Close()
	case 14:
		say(channel, &frame.BasicConsume{Queue: name, ConsumerTag: "c"})
	case 15:
		say(channel, &frame.BasicCancel{ConsumerTag: "c"})
	case 16:
		say(channel, &frame.QueueDeclareOk{Queue: name})
	case 17:
		say(0, &frame.ConnectionOpen{VirtualHost: "/"})
	case 18:
		say(0, &frame.ConnectionTuneOk{ChannelMax: 1, FrameMax: 9})
	case 19:
		socket.Write(frame.AppendHeartbeat(nil))
	case 20:
		socket.Write(message(channel)[:9])
	case 21:
		socket.Write([]byte{9, 0, 1, 0, 0, 0, 0, frame.FrameEnd})
	case 22:
		say(0, &frame.QueueDeclare{Queue: name})
	case 23:
		say(channel+5000, &frame.QueueDeclare{Queue: name})
	case 24:
		say(channel, &frame.ChannelCloseOk{})
	case 25:
		say(0, &frame.ConnectionCloseOk{})
	case 26:
		say(channel, &frame.TxSelect{})
	case 27:
		say(channel, &frame.TxCommit{})
	case 28:
		say(channel, &frame.BasicAck{DeliveryTag: 1, Multiple: true})
	case 29:
		say(channel, &frame.QueueDeclare{Queue: name, Passive: true})
	case 30:
		say(channel, &frame.QueueDeclare{Queue: name, NoWait: true})
	case 31: // more than may wait at the gate
		socket.Write(bytes.Repeat(message(channel), 3*wire.MaxParked/2))
	}
}

func (c *rudeClient) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, socket := range c.conns {
		if socket != nil {
			socket.Close()
		}
	}
	return nil
}

func (c *rudeClient) Pause() error    { return external.ErrUnsupported }
func (c *rudeClient) Continue() error { return nil }

func (c *rudeClient) Close() error {
	err := c.Kill()
	c.tasks.Wait()
	return err
}

// playRude plays scenarios on rude clients, which come to whatever they come to: no panic, no end that does
// not come.
func playRude(t *testing.T, s rude, runs int) {
	runner, err := external.NewRunner(t.Context(), external.Config{
		Starter: s, Kind: lock.Mutex, Timing: external.Timing{Patience: 20 * time.Millisecond, Limit: 20 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	ops := []scenario.Operation{acquire, verify, release, acquire}
	for i := range runs {
		sc := runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}, {Ops: ops}},
			Schedule: scenario.Schedule{Choices: []uint8{uint8(i), 3, 1, 4}},
		})
		runner.Bound(30)
		if _, err := runner.Run(t.Context(), &sc); err != nil {
			t.Logf("run %d: %v", i, err)
			return
		}
	}
}

// flood is the deed of sending many messages on the second connection.
const flood = 1<<5 | 31

// TestFlood: a client that floods a connection, whether or not the gate is open, has its commands pass in the
// order in which they came.
func TestFlood(t *testing.T) {
	playRude(t, rude{script: []byte{flood, 3}, deeds: 2}, 4)
}

// FuzzGate: whatever clients say on however many connections, without ever waiting, nothing panics or hangs.
func FuzzGate(f *testing.F) {
	f.Add([]byte{3, 1, 35, 7, 67, 13}, uint8(3))
	f.Add([]byte{10, 11, 32, 64, 96, 8, 42, 3}, uint8(8))
	f.Add([]byte{40, 1, 35, 255, 127, 13}, uint8(3)) // connection.close before what was sent earlier, on another channel
	f.Add([]byte{18, 14, 16, 17, 24, 25, 22, 23}, uint8(5))
	f.Fuzz(func(t *testing.T, script []byte, deeds uint8) {
		playRude(t, rude{script: script, deeds: int(deeds % 32)}, 3)
	})
}
