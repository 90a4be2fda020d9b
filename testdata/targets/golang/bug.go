package amqplocks

import (
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Bug is a mistake that people really make. NoBug makes none.
type Bug string

// The bugs.
const (
	NoBug Bug = ""
	// NotMandatory publishes the probe without mandatory: it never comes back, and every queue seems to
	// exist.
	NotMandatory Bug = "not-mandatory"
	// ReturnIgnored awaits the confirm and takes it for the answer: the broker confirms what it returns,
	// too.
	ReturnIgnored Bug = "return-ignored"
	// VerifyReconnects has verify connect again when the connection is gone, and not ask what went with it.
	VerifyReconnects Bug = "verify-reconnects"
	// SharedConnection has all clients of the program use one connection, with a channel each: an
	// exclusive queue is the connection's, so it is everybody's.
	SharedConnection Bug = "shared-connection"
	// ReleaseClosesChannel closes the channel to release: an exclusive queue is the connection's, and stays.
	ReleaseClosesChannel Bug = "release-closes-channel"
	// LockedIsSuccess takes RESOURCE_LOCKED for "it is there already".
	LockedIsSuccess Bug = "locked-is-success"
)

var one struct {
	sync.Mutex
	conn *amqp.Connection
}

// shared is the one connection.
func shared(url string) (*amqp.Connection, error) {
	one.Lock()
	defer one.Unlock()
	if one.conn == nil || one.conn.IsClosed() {
		conn, err := amqp.Dial(url)
		if err != nil {
			return nil, err
		}
		one.conn = conn
	}
	return one.conn, nil
}
