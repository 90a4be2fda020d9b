package queue

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/bound/boundtest"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// natsInfo is what a NATS server says first.
const natsInfo = `INFO {"server_id":"x","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}` + "\r\n"

// TestHostile: a server that is silent, dribbles or never ends is given up, in bounded time and memory.
func TestHostile(t *testing.T) {
	all := append(boundtest.All(natsInfo, "PONG\r\n"),
		boundtest.Hostile{Name: "a message of 100 MB", Greeting: natsInfo + "PONG\r\nMSG x 1 99999999\r\n", Endless: "x", Asked: true},
		boundtest.Hostile{Name: "messages", Greeting: natsInfo + "PONG\r\n", Endless: "MSG x 1 1\r\nx\r\n", Asked: true})
	boundtest.Refused(t, all, time.Minute, func(address string) error {
		c, err := connect(&campaign.Server{URL: "nats://" + address})
		if err == nil {
			c.close()
		}
		return err
	})
}
