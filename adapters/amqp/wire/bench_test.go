package wire_test

import (
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// BenchmarkDeclare measures the round trip of a queue.declare on loopback: to the simulated broker, to RabbitMQ, and to
// RabbitMQ through the proxy.
func BenchmarkDeclare(b *testing.B) {
	b.Run("simulated", func(b *testing.B) {
		declare(b, serve(b, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})}).URL())
	})
	b.Run("rabbitmq", func(b *testing.B) { declare(b, rabbitmqtest.URL(b)) })
	b.Run("proxy", func(b *testing.B) {
		declare(b, serve(b, wire.Config{Backend: &wire.Proxy{Address: hostOf(b, rabbitmqtest.URL(b))}}).URL())
	})
}

func declare(b *testing.B, url string) {
	conn, err := amqp091.Dial(url)
	must(b, err)
	defer conn.Close()
	ch, err := conn.Channel()
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ch.QueueDeclare("wire benchmark", false, false, true, false, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trips/s")
}
