package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// When a client does not acknowledge a message in time, by the broker's clock, the broker closes the channel. Another
// channel can then fetch the message.
func TestLateAcknowledgement(t *testing.T) {
	simulated := wire.NewSimulated(wire.SimulatedOptions{ConsumerTimeout: 3 * time.Second})
	address := serve(t, wire.Config{Backend: simulated}).Addr().String()
	p := dial(t, address)
	p.login().send(1, &ChannelOpen{}, &QueueDeclare{Queue: "q"}, &BasicConsume{Queue: "q", ConsumerTag: "c"})
	p.expect(BasicConsumeOkID)
	p.publish(1, &BasicPublish{RoutingKey: "q"}, &Content{})
	p.expect(BasicDeliverID)
	simulated.Advance(2999)
	p.send(1, &BasicQos{})
	p.expect(BasicQosOkID)
	simulated.Advance(1)
	said := strings.Join(p.until(1, ChannelCloseID), "\n")
	const want = "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 3000 ms. " +
		"This timeout value can be configured, see consumers doc guide to learn more"
	if !strings.Contains(said, want) {
		t.Errorf("got %s, want %s", said, want)
	}
	p.send(2, &ChannelOpen{}, &BasicGet{Queue: "q"})
	p.expect(BasicGetOkID)
}

// RabbitMQ before 3.12 ignores the queue argument x-consumer-timeout. For later versions the simulated broker reports
// that it does not support the argument.
func TestOwnTimeout(t *testing.T) {
	for version, refused := range map[string]bool{"RabbitMQ 3.10.8": false, "RabbitMQ 3.11.28": false, "RabbitMQ 3.12.0": true, "RabbitMQ 4.0.5": true} {
		p := dial(t, serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{Broker: broker.Like(version)})}).Addr().String())
		p.login().send(1, &ChannelOpen{}, &QueueDeclare{Queue: "q", Arguments: with("x-consumer-timeout", "soon")})
		if !refused {
			p.send(1, &QueueDeclare{Queue: "q", Arguments: with("x-consumer-timeout", int32(1000))})
			p.expect(QueueDeclareOkID)
			p.expect(QueueDeclareOkID)
			continue
		}
		if said := strings.Join(p.until(0, ConnectionCloseID), "\n"); !strings.Contains(said, "'x-consumer-timeout'") {
			t.Errorf("%s: got %s", version, said)
		}
	}
}
