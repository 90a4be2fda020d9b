package amqplocks

import (
	"context"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Pool is one more mistake that people really make: to save connections, all clients that it makes share one,
// each with a channel of its own. But an exclusive queue is its connection's, so what one of them has claimed
// any other may claim as well. The zero value is ready to use.
type Pool struct {
	mu   sync.Mutex
	conn *amqp.Connection
}

// New makes a client.
func (p *Pool) New(_ context.Context, url string) (*Client, error) {
	s := &session{url: url, names: guidelines, dial: p.dial}
	return &Client{s}, s.connect()
}

// dial is the connection that there is, or else a new one.
func (p *Pool) dial(url string) (conn *amqp.Connection, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.conn.IsClosed() {
		p.conn, err = amqp.Dial(url)
	}
	return p.conn, err
}
