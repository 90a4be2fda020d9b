package amqplocks

import (
	"context"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Pool is a mistake that programmers really make: to save connections, all its clients share one, each with its own
// channel. But an exclusive queue belongs to a connection. So a queue that one client has claimed can be claimed by
// the others as well. The zero value is ready to use.
type Pool struct {
	mu   sync.Mutex
	conn *amqp.Connection
}

// New returns a client that uses the shared connection.
func (p *Pool) New(_ context.Context, url string) (*Client, error) {
	s := &session{url: url, names: guidelines, dial: p.dial}
	return &Client{s}, s.connect()
}

// dial returns the shared connection. It opens one if there is none.
func (p *Pool) dial(url string) (conn *amqp.Connection, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.conn.IsClosed() {
		p.conn, err = amqp.Dial(url)
	}
	return p.conn, err
}
