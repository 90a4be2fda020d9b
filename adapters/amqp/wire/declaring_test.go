package wire_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// A proxy reports exactly the queues and exchanges that clients declare and that outlive their connections.
func TestDeclaring(t *testing.T) {
	proxy := &wire.Proxy{Address: hostOf(t, rabbitmqtest.URL(t))}
	var mu sync.Mutex
	var told []string
	proxy.Declaring = func(queue, exchange string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, "queue "+queue+" exchange "+exchange)
	}
	name := stress.Prefix()
	p := dial(t, serve(t, wire.Config{Backend: proxy}).Addr().String()).login()
	p.send(1, &frame.ChannelOpen{})
	p.expect(frame.ChannelOpenOkID)
	declare := func(m *frame.QueueDeclare) *frame.QueueDeclareOk {
		p.send(1, m)
		return p.expect(frame.QueueDeclareOkID).(*frame.QueueDeclareOk)
	}
	declare(&frame.QueueDeclare{Queue: name + "a"})
	declare(&frame.QueueDeclare{Queue: name + "a", Passive: true})
	declare(&frame.QueueDeclare{Queue: name + "b", Exclusive: true})
	declare(&frame.QueueDeclare{Exclusive: true})
	theirs := declare(&frame.QueueDeclare{}).Queue
	p.send(1, &frame.ExchangeDeclare{Exchange: name + "x", Type: "fanout"})
	p.expect(frame.ExchangeDeclareOkID)
	p.send(1, &frame.QueueDelete{Queue: name + "a"}, &frame.QueueDelete{Queue: theirs}, &frame.ExchangeDelete{Exchange: name + "x"})
	p.expect(frame.QueueDeleteOkID)
	p.expect(frame.QueueDeleteOkID)
	p.expect(frame.ExchangeDeleteOkID)
	want := []string{"queue " + name + "a exchange ", "queue " + theirs + " exchange ", "queue  exchange " + name + "x"}
	if mu.Lock(); !slices.Equal(told, want) || !strings.HasPrefix(theirs, "amq.gen-") {
		t.Errorf("told of %q, expected %q", told, want)
	}
	mu.Unlock()
}
