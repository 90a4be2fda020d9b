package rabbitmq

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/bound/boundtest"
	"github.com/lockproof/lockproof/model/amqp"
)

// amqpStart is a broker's connection.start, with no properties.
const amqpStart = "\x01\x00\x00\x00\x00\x00\x1c\x00\x0a\x00\x0a\x00\x09\x00\x00\x00\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x05en_US\xce"

// TestHostile: a broker that is silent, dribbles or never ends is given up, in bounded time and memory.
func TestHostile(t *testing.T) {
	all := append(boundtest.All(amqpStart, amqpStart),
		boundtest.Hostile{Name: "a frame of 4 GB", Endless: "\x01\x00\x00\xff\xff\xff\xff"},
		boundtest.Hostile{Name: "heartbeats", Greeting: amqpStart, Endless: "\x08\x00\x00\x00\x00\x00\x00\xce", Asked: true})
	boundtest.Refused(t, all, time.Minute, func(address string) error {
		c, err := Dial(t.Context(), "amqp://"+address+"/%2F", new(amqp.Names))
		if err == nil {
			c.Close()
		}
		return err
	})
}
