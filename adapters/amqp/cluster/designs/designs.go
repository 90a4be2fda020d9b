package designs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
)

// Design is one way to build a lock from RabbitMQ's queues.
type Design struct {
	Name string
	// Doc says in one line how a client holds and verifies the lock.
	Doc string
	// Hosted says that the lock is a queue created in advance by SetUp, on the node that SetUp connects to.
	Hosted bool
	// Token says that the lock is the only message of the queue: the client that has the message holds the lock.
	Token bool
	// Mirrored says that the queue needs a policy that mirrors it on all nodes.
	Mirrored bool

	queue amqp.Table // arguments of the queue
	hold  holding
}

// holding implements acquire, verify and release for one kind of design, such as a fetched message.
type holding interface {
	// claim tries to get the lock.
	claim(*client, string) (held bool, err error)
	// look asks the server whether the client still holds the lock. It does nothing if the design has no such query.
	look(*client, string) error
	// giveBack releases the lock.
	giveBack(*client, string) error
}

// MirroredSuffix ends the names of mirrored queues. The policy that mirrors queues matches it.
const MirroredSuffix = ".mirrored"

var (
	quorum = amqp.Table{"x-queue-type": "quorum"}
	single = amqp.Table{"x-single-active-consumer": true}
	both   = amqp.Table{"x-queue-type": "quorum", "x-single-active-consumer": true}
)

// All are the designs that can be tested, with the arguments of their queues.
var All = []Design{
	{Name: "exclusive-queue", Doc: "declares an exclusive queue; verifies by declaring it passively", hold: exclusiveQueue{asks: true}},
	{Name: "exclusive-queue-unasked", Doc: "declares an exclusive queue; verifies by whether it was told of an end", hold: exclusiveQueue{}},
	{Name: "classic-token", Doc: "fetches the only message of a classic queue by basic.get", Hosted: true, Token: true, hold: fetched{}},
	{Name: "classic-token-consumer", Doc: "is delivered the only message of a classic queue", Hosted: true, Token: true, hold: delivered{}},
	{Name: "quorum-token", Doc: "fetches the only message of a quorum queue by basic.get", Hosted: true, Token: true, queue: quorum, hold: fetched{}},
	{Name: "quorum-token-consumer", Doc: "is delivered the only message of a quorum queue", Hosted: true, Token: true, queue: quorum, hold: delivered{}},
	{Name: "exclusive-consumer", Doc: "is the exclusive consumer of a classic queue", Hosted: true, hold: exclusiveConsumer{}},
	{Name: "single-active-consumer", Doc: "is delivered the only message of a classic queue with a single active consumer", Hosted: true, Token: true, queue: single, hold: delivered{}},
	{Name: "quorum-single-active", Doc: "is delivered the only message of a quorum queue with a single active consumer", Hosted: true, Token: true, queue: both, hold: delivered{}},
	{Name: "mirrored-token", Doc: "fetches the only message of a mirrored classic queue by basic.get", Hosted: true, Token: true, Mirrored: true, hold: fetched{}},
}

// Named is the design with the given name. The error lists the valid names.
func Named(name string) (Design, error) {
	var names []string
	for _, d := range All {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return Design{}, fmt.Errorf("%q: expected one of %s", name, strings.Join(names, ", "))
}

// Starter starts clients of the design.
func (d Design) Starter() foreign.Starter {
	return inprocess.Starter{Name: d.Name, New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		return newClient(ctx, url, d)
	}}
}

// queueOf is the name of a lock's queue.
func (d Design) queueOf(lock string) string {
	if d.Mirrored {
		return lock + MirroredSuffix
	}
	return lock + ".lock"
}

// SetUp creates the queue of a lock and publishes its token. url is the address of the node that is to host the queue.
// It does nothing for a design without a hosted queue.
func (d Design) SetUp(ctx context.Context, url, lock string) error {
	if !d.Hosted {
		return nil
	}
	err := on(ctx, url, func(ch *amqp.Channel) error {
		if _, err := ch.QueueDeclare(d.queueOf(lock), true, false, false, false, d.queue); err != nil {
			return err
		}
		if !d.Token {
			return nil
		}
		if err := ch.Confirm(false); err != nil {
			return err
		}
		message := amqp.Publishing{DeliveryMode: amqp.Persistent}
		confirmed, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", d.queueOf(lock), true, false, message)
		if err != nil {
			return err
		}
		if ok, err := confirmed.WaitContext(ctx); err != nil || !ok {
			return errors.Join(err, errors.New("the token was not confirmed"))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("making the queue of a %s: %w", d.Name, err)
	}
	return nil
}

// Tokens is the number of messages that are ready in a lock's queue: the tokens that no client holds.
func (d Design) Tokens(ctx context.Context, url, lock string) (n int, err error) {
	err = on(ctx, url, func(ch *amqp.Channel) error {
		q, err := ch.QueueDeclarePassive(d.queueOf(lock), true, false, false, false, d.queue)
		n = q.Messages
		return err
	})
	return n, err
}

// on calls do with a new channel of a new connection.
func on(ctx context.Context, url string, do func(*amqp.Channel) error) error {
	conn, err := dial(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.CloseDeadline(soon()) })
	defer stop()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	return do(ch)
}

// Remove deletes the queue of a lock.
func (d Design) Remove(ctx context.Context, url, lock string) error {
	if !d.Hosted {
		return nil
	}
	return on(ctx, url, func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(d.queueOf(lock), false, false, false)
		return err
	})
}
