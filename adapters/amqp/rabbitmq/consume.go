package rabbitmq

import (
	"strconv"
	"strings"
	"sync"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/model/amqp"
)

// inbox collects the deliveries of all consumers of a connection. Those of one consumer are in order of arrival.
type inbox struct {
	mu         sync.Mutex
	deliveries []amqp.Delivery
	arrived    chan struct{} // signals that a delivery has arrived; buffer of one
	flooded    func()        // called when a delivery exceeds maxInbox
}

// maxInbox is the maximum number of deliveries in an inbox. A broker that sends more is cut off.
const maxInbox = 1 << 16

func newInbox(flooded func()) *inbox {
	return &inbox{arrived: make(chan struct{}, 1), flooded: flooded}
}

func (in *inbox) put(d amqp.Delivery) {
	in.mu.Lock()
	fits := len(in.deliveries) < maxInbox
	if fits {
		in.deliveries = append(in.deliveries, d)
	}
	in.mu.Unlock()
	if !fits {
		in.flooded()
	}
	select {
	case in.arrived <- struct{}{}:
	default:
	}
}

// take empties the inbox and appends its deliveries to buf.
func (in *inbox) take(buf []amqp.Delivery) []amqp.Delivery {
	in.mu.Lock()
	defer in.mu.Unlock()
	buf = append(buf, in.deliveries...)
	in.deliveries = in.deliveries[:0]
	return buf
}

// consume starts a consumer. Until the consumer ends, its deliveries go to the connection's inbox.
func (c *Conn) consume(ch *channel, queue string, cmd amqp.Command) error {
	arguments := amqp091.Table{}
	if cmd.Priority != 0 {
		arguments["x-priority"] = cmd.Priority
	}
	deliveries, err := ch.Consume(queue, consumerTag(cmd.Number),
		cmd.Flags.Has(amqp.NoAck), cmd.Flags.Has(amqp.Exclusive), false, false, arguments)
	if err != nil {
		return err
	}
	go receive(c.inbox, cmd, deliveries)
	return nil
}

// consumerTag is the consumer tag that is sent to RabbitMQ. It begins with a letter, because RabbitMQ confuses a tag of
// digits with the delivery tag of a basic.get from a quorum queue (FACTS Q19).
func consumerTag(number uint64) string { return tagPrefix + strconv.FormatUint(number, 10) }

const tagPrefix = "c"

func receive(in *inbox, consume amqp.Command, deliveries <-chan amqp091.Delivery) {
	for d := range deliveries {
		in.put(amqp.Delivery{
			Channel: consume.Channel, Consumer: consume.Number, Tag: d.DeliveryTag,
			Message: identity(d.Body), Redelivered: d.Redelivered, Deliveries: cameBack(d.Headers),
		})
	}
}

// receiveCancels puts a cancellation into the inbox for each consumer that the broker cancels on a channel.
func receiveCancels(in *inbox, channel uint16, cancels <-chan string) {
	for tag := range cancels {
		consumer, _ := strconv.ParseUint(strings.TrimPrefix(tag, tagPrefix), 10, 64) // consumerTag made the tag
		in.put(amqp.Delivery{Channel: channel, Consumer: consumer, Cancelled: true})
	}
}

// Deliveries appends to buf what consumers have received since the last call. It waits until there are at least n
// deliveries, but at most for patience. Only the deliveries of one consumer are in order. The order among consumers,
// and the place of a cancellation, mean nothing.
func (c *Conn) Deliveries(n int, patience time.Duration, buf []amqp.Delivery) []amqp.Delivery {
	have := len(buf)
	timeout := time.After(patience)
	for {
		buf = c.inbox.take(buf)
		if len(buf)-have >= n {
			return buf
		}
		select {
		case <-c.inbox.arrived:
		case <-timeout:
			return buf
		}
	}
}
