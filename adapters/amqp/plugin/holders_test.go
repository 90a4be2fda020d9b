package plugin_test

import (
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/model/holding"
)

// Holders finds the holders of a lock for each kind of declaration, while two clients acquire and release it.
func TestHolders(t *testing.T) {
	broker := wire.NewSimulated(wire.SimulatedOptions{})
	clients, numbers := [2]*amqp091.Channel{}, make(map[*wire.Server]uint8)
	for i := range clients {
		server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: broker})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		conn, err := amqp091.Dial(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if clients[i], err = conn.Channel(); err != nil {
			t.Fatal(err)
		}
		numbers[server] = uint8(i + 1)
	}
	c1, c2 := clients[0], clients[1]
	shows := func(how, want string) {
		t.Helper()
		d, err := holding.Parse(how)
		if err != nil {
			t.Fatal(err)
		}
		var got []holding.Hold
		broker.Observe(func(v wire.State) {
			got = plugin.Holders(v, d, "jobs", 2, func(c *wire.Conn) uint8 { return numbers[c.Server] })
		})
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, expected %s", how, got, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	declare := func(c *amqp091.Channel, queue string, exclusive bool, arguments amqp091.Table) {
		t.Helper()
		_, err := c.QueueDeclare(queue, false, false, exclusive, false, arguments)
		do(err)
	}
	get := func(c *amqp091.Channel, queue string) amqp091.Delivery {
		t.Helper()
		d, ok, err := c.Get(queue, false)
		if err != nil || !ok {
			t.Fatal(queue, ok, err)
		}
		return d
	}
	shows("queue jobs-{slot}", "[]")
	declare(c2, "jobs-3", true, nil)
	declare(c1, "jobs-1", true, nil)
	declare(c1, "jobs-2", false, nil) // not exclusive, so that no client owns it
	shows("queue jobs-{slot}", "[{1 1} {2 3}]")
	shows("queue jobs-{slot-1}", "[{1 2} {2 4}]")
	shows("queue jobs-3", "[{2 0}]")
	shows("message jobs-{slot}", "[]")

	declare(c1, "jobs.tokens", false, nil)
	shows("absent jobs.tokens", fmt.Sprintf("[{%d 0} {%d 0}]", holding.Anybody, holding.Anybody))
	for range 2 {
		do(c1.Publish("", "jobs.tokens", false, false, amqp091.Publishing{}))
	}
	token := get(c1, "jobs.tokens")
	get(c2, "jobs.tokens")
	shows("message jobs.tokens", "[{1 0} {2 0}]")
	do(token.Ack(false))
	declare(c1, "jobs.after", false, nil) // once this is answered, the acknowledgement has been processed
	shows("message jobs.tokens", "[{2 0}]")
	shows("absent jobs.tokens", fmt.Sprintf("[{2 0} {%d 0}]", holding.Anybody))
	shows("absent jobs.none", "[]")

	declare(c1, "jobs.active", false, amqp091.Table{amqp091.SingleActiveConsumerArg: true})
	for i, c := range clients {
		_, err := c.Consume("jobs.active", fmt.Sprint(i), true, false, false, false, nil)
		do(err)
	}
	shows("consumer jobs.active", "[{1 0}]")
	do(c1.Cancel("0", false))
	shows("consumer jobs.active", "[{2 0}]")
}
