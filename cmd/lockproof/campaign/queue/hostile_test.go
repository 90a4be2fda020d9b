package queue

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/internal/boundtest"
)

// natsInfo is the first message that a NATS server sends.
const natsInfo = `INFO {"server_id":"x","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}` + "\r\n"

// TestHostile checks that connecting to a malicious server fails within bounds of time and memory. The server may be
// silent, very slow, or send endlessly.
func TestHostile(t *testing.T) {
	all := append(boundtest.All(natsInfo, "PONG\r\n"),
		boundtest.Hostile{Name: "a message of 100 MB", Greeting: natsInfo + "PONG\r\nMSG x 1 99999999\r\n", Endless: "x", Asked: true},
		boundtest.Hostile{Name: "a message of 2 GB", Greeting: natsInfo + "PONG\r\nMSG x 1 2000000000\r\n", Endless: "x", Asked: true},
		boundtest.Hostile{Name: "pings", Greeting: natsInfo + "PONG\r\n", Endless: "PING\r\n", Asked: true},
		boundtest.Hostile{Name: "messages", Greeting: natsInfo + "PONG\r\n", Endless: "MSG x 1 1\r\nx\r\n", Asked: true})
	boundtest.Refused(t, all, time.Minute, func(address string) error {
		c, err := connect(&campaign.Server{URL: "nats://" + address})
		if err == nil {
			c.close()
		}
		return err
	})
}

// TestMessages checks that the length in the header line of a message is found, however the server's bytes are divided.
// The content of a message must not count as a header line.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		text    string
		refused bool
	}{
		{natsInfo + "MSG a 1 24\r\nMSG x 1 2000000000\r\nHMM\r\nPING\r\n", false},
		{"HMSG a 1 b 12 14\r\nNATS/1.0\r\n\r\nhi\r\n+OK\r\n", false},
		{"MSG a 1 67108865\r\n", true}, {"msg a 1 b 2000000000\r\n", true}, {"HMSG a 1 12 99999999999999999999\r\n", true}, {"MSG a 1 -4\r\n", true},
		{natsInfo + "\x16\x03\x01\nMSG a 1 2000000000\r\n", false},
	} {
		for _, piece := range []int{1, 7, 1000} {
			var m messages
			var err error
			for text := []byte(c.text); len(text) > 0 && err == nil; text = text[min(piece, len(text)):] {
				err = m.follow(text[:min(piece, len(text))])
			}
			if (err != nil) != c.refused {
				t.Errorf("%q in pieces of %d: %v", c.text, piece, err)
			}
		}
	}
}
