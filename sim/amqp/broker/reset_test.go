package broker

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// TestResetForgetsExchanges: after a reset, a broker has none of the exchanges that were declared before.
func TestResetForgetsExchanges(t *testing.T) {
	names := new(amqp.Names)
	b := New(names, Options{})
	conn := b.Connect()
	b.Apply(conn, amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
	declare := amqp.Command{Method: amqp.ExchangeDeclare, Channel: 1, Route: names.InternRoute(amqp.Routing{Exchange: "x", Type: "fanout"})}
	if r := b.Apply(conn, declare); r.Kind != amqp.OK {
		t.Fatal(r)
	}
	if _, there := b.Exchange("x"); !there {
		t.Fatal("the exchange is not there")
	}
	b.Reset()
	if e, there := b.Exchange("x"); there {
		t.Errorf("after a reset there is %v", e)
	}
}
