package wire_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Virtual hosts have separate queues. Time passes in all of them, and a restart affects all.
func TestVirtualHosts(t *testing.T) {
	simulated := wire.NewSimulated(wire.SimulatedOptions{VirtualHosts: []string{"second"}})
	address := serve(t, wire.Config{Backend: simulated}).Addr().String()
	enter := func(host string) *peer {
		p := dial(t, address)
		p.hello("guest", "guest")
		p.expect(ConnectionTuneID)
		p.send(0, &ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096}, &ConnectionOpen{VirtualHost: host})
		p.expect(ConnectionOpenOkID)
		p.send(1, &ChannelOpen{})
		p.expect(ChannelOpenOkID)
		return p
	}
	first, second := enter("/"), enter("second")
	for _, p := range []*peer{first, second} {
		p.send(1, &QueueDeclare{Queue: "q", Exclusive: true}, &QueueDeclare{Queue: "e", Arguments: with("x-expires", int32(1000))})
		p.expect(QueueDeclareOkID)
		p.expect(QueueDeclareOkID)
	}
	first.publish(1, &BasicPublish{RoutingKey: "q"}, &Content{})
	second.send(1, &BasicGet{Queue: "q"})
	second.expect(BasicGetEmptyID)
	simulated.Advance(1000)
	for host, p := range map[string]*peer{"/": first, "second": second} {
		p.send(1, &QueueDeclare{Queue: "e", Passive: true})
		if said := strings.Join(p.until(1, ChannelCloseID), "\n"); !strings.Contains(said, "no queue 'e' in vhost '"+host+"'") {
			t.Errorf("%s: %s", host, said)
		}
	}
	simulated.Restart()
	for _, p := range []*peer{first, second} {
		p.expect(ConnectionCloseID)
	}
	nowhere := dial(t, address)
	nowhere.hello("guest", "guest")
	nowhere.expect(ConnectionTuneID)
	nowhere.send(0, &ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096}, &ConnectionOpen{VirtualHost: "third"})
	nowhere.expect(ConnectionCloseID)
}
