package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Told is what a broker reports about itself when a client connects.
type Told struct {
	// Address is the broker's address, without a password.
	Address string
	// Product, Version, Cluster and Platform are from the server-properties of connection.start; "" if missing.
	Product, Version, Cluster, Platform string
	// Heartbeat is the interval that the broker proposes in connection.tune; 0 means no heartbeats.
	Heartbeat time.Duration
	// Registry says that the broker has the queue in which runs of lockproof register what they create. Entries is the
	// number of messages in that queue, one for each registered run.
	Registry bool
	Entries  int
}

// Ask connects to each broker and returns what it reports about itself. It changes nothing on the brokers. It checks
// all addresses before it connects.
func Ask(ctx context.Context, urls ...string) (all []*Told, err error) {
	checked := make([]string, len(urls))
	for i, url := range urls {
		if checked[i], err = checkURL(url); err != nil {
			return nil, err
		}
	}
	for _, url := range checked {
		told, err := ask(ctx, url)
		if err != nil {
			return nil, err
		}
		all = append(all, told)
	}
	return all, nil
}

// ask returns what the broker at an address reports about itself. checked is the address as checkURL returned it.
func ask(ctx context.Context, checked string) (*Told, error) {
	conn, err := open(ctx, checked, amqp.Config{FrameSize: frameSize, Heartbeat: longestHeartbeat})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w; is a RabbitMQ running there?", redact(checked), err)
	}
	closeSoon := func() { _ = conn.CloseDeadline(time.Now().Add(greetLimit)) }
	defer closeSoon()
	defer time.AfterFunc(greetLimit, closeSoon).Stop() // so that a silent broker cannot block Ask
	said := func(name string) string {
		text, _ := conn.Properties[name].(string)
		return text
	}
	told := &Told{
		Address: redact(checked), Product: said("product"), Version: said("version"), Cluster: said("cluster_name"), Platform: said("platform"),
		Heartbeat: conn.Config.Heartbeat,
	}
	if told.Heartbeat == longestHeartbeat { // the broker proposes no heartbeats, or none within an hour
		told.Heartbeat = 0
	}
	return told, told.lookForRegistry(conn)
}

// longestHeartbeat is the interval that Ask requests. The agreed interval is the shorter of both proposals, so it is
// the broker's.
const longestHeartbeat = time.Hour

// lookForRegistry sets Registry and Entries by a passive declare of the registry's queue.
func (t *Told) lookForRegistry(conn *amqp.Connection) error {
	ch, err := conn.Channel()
	if err != nil {
		return fmt.Errorf("asking %s for the queue %s: %w", t.Address, registryQueue, err)
	}
	q, err := ch.QueueDeclarePassive(registryQueue, true, false, false, false, nil)
	var closed *amqp.Error
	switch {
	case err == nil:
		t.Registry, t.Entries = true, q.Messages
		return nil
	case errors.As(err, &closed) && closed.Code == amqp.NotFound:
		return nil
	}
	return fmt.Errorf("asking %s for the queue %s: %w", t.Address, registryQueue, err)
}
