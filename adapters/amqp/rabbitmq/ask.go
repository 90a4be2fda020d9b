package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Told is what a broker tells of itself over AMQP.
type Told struct {
	// Address is where it was asked, without a password.
	Address string
	// Product, Version, Cluster and Platform are among the server-properties of connection.start; "" where it does not say.
	Product, Version, Cluster, Platform string
	// Heartbeat is the interval that it proposes in connection.tune; 0 is none.
	Heartbeat time.Duration
	// Registry says that the queue exists in which runs of lockproof note what they make. Entries is how many messages wait
	// in it.
	Registry bool
	Entries  int
}

// Ask connects to brokers and asks each what it is, by commands that change nothing there. None is asked before all addresses
// are known to be right.
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

// ask asks the broker at an address that is right.
func ask(ctx context.Context, checked string) (*Told, error) {
	conn, err := open(ctx, checked, amqp.Config{FrameSize: frameSize, Heartbeat: longestHeartbeat})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w; is a RabbitMQ running there?", redact(checked), err)
	}
	closeSoon := func() { _ = conn.CloseDeadline(time.Now().Add(greetLimit)) }
	defer closeSoon()
	defer time.AfterFunc(greetLimit, closeSoon).Stop() // a broker that does not answer
	said := func(name string) string {
		text, _ := conn.Properties[name].(string)
		return text
	}
	told := &Told{
		Address: redact(checked), Product: said("product"), Version: said("version"), Cluster: said("cluster_name"), Platform: said("platform"),
		Heartbeat: conn.Config.Heartbeat,
	}
	if told.Heartbeat == longestHeartbeat { // it proposes none: ours is what was agreed on
		told.Heartbeat = 0
	}
	return told, told.lookForRegistry(conn)
}

// longestHeartbeat is asked for, so that what is agreed on is what the broker proposes: the shorter of the two.
const longestHeartbeat = time.Hour

// lookForRegistry looks whether runs of lockproof have a registry there.
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
