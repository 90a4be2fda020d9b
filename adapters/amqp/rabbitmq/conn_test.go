package rabbitmq_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
)

// If a reply does not arrive in time, the connection is cut and later commands fail. connection.open then opens a new
// connection.
func TestConnGivesUpWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	via := newRelay(t, rabbitmqtest.URL(t))
	conn, names := dialVia(t, via, rabbitmq.Dialer{}) // a busy machine needs the default time-out
	defer conn.Close()

	via.hold.Lock()
	got := conn.Do([]amqp.Command{
		{Method: amqp.QueueDeclare, Channel: 1, Queue: names.Intern("lockproof.lost"), Flags: amqp.Exclusive},
		{Method: amqp.QueueDelete, Channel: 1, Queue: names.Intern("lockproof.lost")},
	})
	via.hold.Unlock()
	if !slices.Equal(got, []amqp.Reply{{Kind: amqp.Lost}}) {
		t.Fatalf("got %v, expected one lost reply and no more", got)
	}
	probe := amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: names.Intern("lockproof.lost"), Flags: amqp.Mandatory}
	if got := conn.Do([]amqp.Command{probe}); got[0] != (amqp.Reply{Kind: amqp.ConnectionClosed}) {
		t.Errorf("got %v on a connection that was given up", got)
	}
	for _, r := range conn.Do([]amqp.Command{{Method: amqp.ConnectionOpen}, {Method: amqp.ChannelOpen, Channel: 1}}) {
		if r != (amqp.Reply{Kind: amqp.OK}) {
			t.Errorf("got %v, expected to be connected again", r)
		}
	}
}

// Do writes all messages of a batch before it waits for confirms. Each message gets its own confirm and its own return.
func TestConnPipelinesMessages(t *testing.T) {
	via := newRelay(t, rabbitmqtest.URL(t))
	conn, names := dialVia(t, via, rabbitmq.Dialer{})
	defer conn.Close()

	here, nowhere := names.Intern("lockproof.pipelined"), names.Intern("lockproof.nowhere")
	conn.Do([]amqp.Command{
		{Method: amqp.ConfirmSelect, Channel: 1},
		{Method: amqp.QueueDeclare, Channel: 1, Queue: here, Flags: amqp.Exclusive},
	})
	var batch []amqp.Command
	var want []amqp.Reply
	for i := range 200 {
		cmd := amqp.Command{Method: amqp.BasicPublish, Pipelined: i > 0, Channel: 1, Queue: here, Flags: amqp.Mandatory}
		reply := amqp.Reply{Kind: amqp.Ack}
		if i%3 == 0 {
			cmd.Queue, reply.Returned, reply.Code = nowhere, 1, amqp.NoRoute
		}
		batch, want = append(batch, cmd), append(want, reply)
	}

	via.hold.Lock()
	before := via.sent.Load()
	replies := make(chan []amqp.Reply)
	go func() { replies <- conn.Do(batch) }()
	for via.sent.Load() < before+int64(len(batch)*len("lockproof.nowhere")) {
		time.Sleep(time.Millisecond) // loops forever if Do waits for confirms
	}
	via.hold.Unlock()
	if got := <-replies; !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// When a connection is killed, the broker deletes its exclusive queues. Further commands on it return
// connection-closed.
func TestConnKill(t *testing.T) {
	conn, names := dialVia(t, nil, rabbitmq.Dialer{})
	q := names.Intern("lockproof.killed")
	conn.Do([]amqp.Command{{Method: amqp.QueueDeclare, Channel: 1, Queue: q, Flags: amqp.Exclusive}})
	conn.Kill()
	if got := conn.Do([]amqp.Command{{Method: amqp.QueueDelete, Channel: 1, Queue: q}}); got[0] != (amqp.Reply{Kind: amqp.ConnectionClosed}) {
		t.Errorf("got %v on a killed connection", got)
	}
	if got := conn.Do([]amqp.Command{{Method: amqp.ConnectionOpen}}); got[0] != (amqp.Reply{Kind: amqp.OK}) {
		t.Errorf("got %v, expected to be connected again", got)
	}
	conn.Kill()
	if err := conn.Close(); err != nil {
		t.Error(err)
	}

	other, _ := dialVia(t, nil, rabbitmq.Dialer{})
	defer other.Close()
	for deadline := time.Now().Add(patience); ; {
		r := other.Do([]amqp.Command{{Method: amqp.ChannelOpen, Channel: 2}, {Method: amqp.QueueDeclare, Channel: 2, Queue: q, Flags: amqp.Passive}})[1]
		if r.Code == amqp.NotFound {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the queue is still there: %v", r)
		}
	}
}

// The error for an unreachable broker names the broker without its password, and says what to do.
func TestDialErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, c := range []struct{ url, want string }{
		{"http://x", `"http://x" is not the address of a broker`},
		{"amqp://user:secret@" + address, "connecting to amqp://user:***@" + address + "/%2F: "},
	} {
		_, err := rabbitmq.Dial(t.Context(), c.url, new(amqp.Names))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %q", c.url, err, c.want)
		}
	}
}

// TestChannelErrorsOfTheConnection: RabbitMQ answers with 504 to a command on a closed channel, and to channel.open on
// an open one. The test writes these commands as bytes, since amqp091-go cannot send them. [rabbitmq.Conn.Do] and the
// simulated broker imitate the answer.
func TestChannelErrorsOfTheConnection(t *testing.T) {
	passive := append([]byte{0, 0, 1}, "q\x01\x00\x00\x00\x00"...)
	for _, c := range []struct {
		name          string
		channel       uint16
		class, method uint16
		arguments     []byte
	}{
		{"channel.open twice", 1, 20, 10, []byte{0}},
		{"channel.open of channel 0", 0, 20, 10, []byte{0}},
		{"queue.declare on a channel that is not open", 5, 50, 10, passive},
		{"basic.ack on a channel that is not open", 5, 60, 80, make([]byte, 9)},
		{"channel.close of a channel that is not open", 5, 20, 40, []byte{0, 200, 0, 0, 0, 0, 0}},
		{"queue.declare on channel 0", 0, 50, 10, passive},
	} {
		t.Run(c.name, func(t *testing.T) {
			var socket net.Conn
			conn, err := amqp091.DialConfig(rabbitmqtest.URL(t), amqp091.Config{Dial: func(network, addr string) (net.Conn, error) {
				var err error
				socket, err = net.Dial(network, addr)
				return socket, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Channel(); err != nil {
				t.Fatal(err)
			}
			closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
			if _, err := socket.Write(methodFrame(c.channel, c.class, c.method, c.arguments)); err != nil {
				t.Fatal(err)
			}
			select {
			case e := <-closed:
				if e.Code != int(amqp.ChannelError) {
					t.Error(e)
				}
			case <-time.After(patience):
				t.Error("the connection stays open")
			}
		})
	}
}

// methodFrame is an encoded method frame.
func methodFrame(channel, class, method uint16, arguments []byte) []byte {
	payload := binary.BigEndian.AppendUint16(nil, class)
	payload = append(binary.BigEndian.AppendUint16(payload, method), arguments...)
	frame := binary.BigEndian.AppendUint16([]byte{1}, channel)
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(payload)))
	return append(append(frame, payload...), 0xce)
}

// dialVia connects to the broker and opens channel 1. The connection goes through the relay if via is not nil.
func dialVia(t *testing.T, via *relay, d rabbitmq.Dialer) (*rabbitmq.Conn, *amqp.Names) {
	address := rabbitmqtest.URL(t)
	if via != nil {
		address = via.url
	}
	names := new(amqp.Names)
	names.Intern("lockproof.killed")
	conn, err := d.Dial(context.Background(), address, names)
	if err != nil {
		t.Fatal(err)
	}
	conn.Do([]amqp.Command{{Method: amqp.ChannelOpen, Channel: 1}})
	return conn, names
}

// relay forwards bytes between clients and a broker, and can hold the broker's back.
type relay struct {
	url  string
	hold sync.RWMutex // while locked, the relay holds back the broker's bytes
	sent atomic.Int64 // number of bytes that clients have sent
}

func newRelay(t *testing.T, broker string) *relay {
	to, err := url.Parse(broker)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	here := *to
	here.Host = l.Addr().String()
	r := &relay{url: here.String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to.Host)
			if err != nil {
				client.Close()
				return
			}
			go r.pass(server, client, func(n int) { r.sent.Add(int64(n)) })
			go r.pass(client, server, r.wait)
		}
	}()
	return r
}

func (r *relay) wait(int) {
	r.hold.RLock()
	defer r.hold.RUnlock()
}

// pass copies bytes from one socket to another. Before each write, it calls before with the number of bytes to be
// written.
func (r *relay) pass(to, from net.Conn, before func(n int)) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		before(n)
		if _, err := io.Copy(to, bytes.NewReader(buf[:n])); err != nil {
			return
		}
	}
}
