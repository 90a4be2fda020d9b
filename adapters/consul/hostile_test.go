package consul_test

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/consul"
	"github.com/lockproof/lockproof/internal/boundtest"
)

// TestHostile: if an agent is silent, sends very slowly or never stops sending, Find fails in bounded time and
// memory.
func TestHostile(t *testing.T) {
	all := boundtest.All("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", `{"Config": {"Version": "`)
	for name, head := range map[string]string{"headers": "HTTP/1.1 200 OK\r\n", "continues": "HTTP/1.1 100 Continue\r\n\r\n"} {
		all = append(all, boundtest.Hostile{Name: "endless " + name, Greeting: head, Endless: "A: b\r\n", Asked: true}, boundtest.Hostile{Name: "again " + name, Endless: head})
	}
	all = append(all, boundtest.Hostile{Name: "chunks", Greeting: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Endless: "5\r\n     \r\n", Asked: true})
	boundtest.Refused(t, all, time.Minute, func(address string) error {
		_, err := consul.Find(t.Context(), address)
		return err
	})
}
