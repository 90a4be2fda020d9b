package external_test

import (
	"context"
	"net"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// quitting is a right mutex by an exclusive queue that gives its connection up if it cannot verify what it holds, and answers
// when it has written so.
type quitting struct {
	named
	socket *toldSocket
}

func (m *quitting) connect() (err error) {
	m.conn, err = amqp091.DialConfig(m.url, amqp091.Config{Dial: func(network, address string) (net.Conn, error) {
		c, err := net.Dial(network, address)
		m.socket = &toldSocket{Conn: c}
		return m.socket, err
	}})
	if err != nil {
		return err
	}
	return m.open()
}

func (m *quitting) Verify(_ context.Context, name string, _ int) (bool, error) {
	if m.holds != name || m.conn.IsClosed() {
		return false, nil
	}
	_, err := m.ch.QueueDeclarePassive(m.name(name), false, false, true, false, nil)
	if err == nil {
		return true, nil
	}
	m.holds = ""
	written := m.socket.next()
	go m.conn.Close()
	<-written
	return false, nil
}

// A verify that gives its connection up, and does not wait until the broker knows, leaves nothing behind.
func TestGivingUp(t *testing.T) {
	runner := mutexRunner(t, "quitting", func(url string) (inprocess.Lock, error) {
		m := &quitting{named: named{url: url, name: func(n string) string { return n + ".lock" }}}
		return m, m.connect()
	})
	actions := append(steps(1, 2), scenario.Action{Kind: scenario.ChannelError, Client: 1})
	x := carriedOut(t, runner, append(actions, steps(1, 4)...), []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}}, nil)
	if x.Found&^external.Measured != 0 {
		t.Error(x.Violations)
	}
	if len(x.Errors) > 0 || len(x.Steps) < 4 {
		t.Errorf("%d steps: %v", len(x.Steps), x.Errors)
	}
}
