package rabbitmq_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// side is a broker on which steps are played, simulated or real. Its clients are numbered from 0.
type side interface {
	do(client int, batch []amqp.Command) []amqp.Reply
	// kill cuts a client's socket, and returns when the broker has noticed.
	kill(client int)
	// deliveries is what the client's consumers have received. On a real broker it waits until there are n deliveries.
	deliveries(client, n int) []amqp.Delivery
	advance(ms int64)
	restart()
}

// clients is the number of clients on each side. Client 0 is the observer. It, and the channel spare of each client,
// are for questions of the tests.
const (
	clients  = 4
	observer = 0
	spare    = 9
)

// outcome carries out a step and returns its results as text. expected is the expected text, if it is known: it says
// how many deliveries to wait for.
func outcome(w side, s step, batch []amqp.Command, expected string) []string {
	switch s.event {
	case kill:
		w.kill(s.client)
	case advance:
		w.advance(s.ms)
	case restart:
		w.restart()
	case receive:
		return []string{deliveriesText(w.deliveries(s.client, countDeliveries(expected)))}
	default:
		var out []string
		for _, r := range w.do(s.client, batch) {
			out = append(out, replyText(r))
		}
		return out
	}
	return []string{""}
}

// simulated is a side that is the simulated broker.
type simulated struct {
	*broker.Broker
	conns [clients]broker.Conn
	// apply carries out a command: it is Broker.Apply, or a test's replacement.
	apply func(broker.Conn, amqp.Command) amqp.Reply
}

func newSimulated(names *amqp.Names, like broker.Options) *simulated {
	b := broker.New(names, like)
	return &simulated{Broker: b, apply: b.Apply}
}

func (w *simulated) do(client int, batch []amqp.Command) []amqp.Reply {
	var replies []amqp.Reply
	for _, cmd := range batch {
		if cmd.Method == amqp.ConnectionOpen && w.conns[client] == 0 {
			w.conns[client] = w.Connect()
		}
		r := w.apply(w.conns[client], cmd)
		if !w.Alive(w.conns[client]) {
			w.conns[client] = 0
		}
		replies = append(replies, r)
		if r.Closed() {
			break
		}
	}
	return replies
}

func (w *simulated) kill(client int) {
	w.Disconnect(w.conns[client])
	w.conns[client] = 0
}

func (w *simulated) deliveries(client, _ int) []amqp.Delivery {
	return sorted(w.Deliveries(w.conns[client], nil))
}

func (w *simulated) advance(ms int64) { w.Advance(ms) }

func (w *simulated) restart() {
	w.Restart()
	w.conns = [clients]broker.Conn{}
}

// sorted sorts deliveries by consumer, so that both sides can be compared: amqp091-go does not tell the order among
// consumers.
func sorted(d []amqp.Delivery) []amqp.Delivery {
	slices.SortStableFunc(d, func(a, b amqp.Delivery) int {
		last := func(d amqp.Delivery) uint64 {
			if d.Cancelled {
				return math.MaxUint64
			}
			return d.Tag
		}
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(last(a), last(b)))
	})
	return d
}

// real is a real RabbitMQ as a side.
type real struct {
	url    string
	prefix string // prefix of its queues and exchanges
	names  *amqp.Names
	queues int // number of queues in steps; the marks have the numbers after them
	conns  [clients]*rabbitmq.Conn
	owned  [clients]map[amqp.Queue]bool // exclusive queues of each client, with its mark; nil while not connected
	again  func(context.Context) error  // restarts the broker
	late   time.Duration                // maximum time by which a pause was longer than requested
	err    error                        // first error of the side itself: of a wait, a restart or a close

	patience time.Duration
}

// newReal connects to a real broker as a side. It puts a unique prefix before the names of the steps' queues and
// exchanges, except reserved names such as amq.topic.
func newReal(prefix, url string, names *amqp.Names) (*real, error) {
	prefix = fmt.Sprintf("lockproof.%s.%x.", prefix, serial.Add(1)+uint64(time.Now().UnixNano()))
	w := &real{url: url, prefix: prefix, names: new(amqp.Names), queues: names.Len(), patience: patience}
	for i := range w.queues {
		q := amqp.Queue(i + 1)
		if names.Reserved(q) {
			w.names.Intern(names.Name(q))
		} else {
			w.names.Intern(prefix + names.Name(q))
		}
	}
	for i := range clients {
		w.names.Intern(fmt.Sprint(prefix, "mark.", i))
	}
	for i := range names.Routes() {
		r := names.Routing(amqp.Route(i + 1))
		for _, exchange := range []*string{&r.Exchange, &r.Destination, &r.Alternate} {
			if *exchange != "" && !strings.HasPrefix(*exchange, "amq.") {
				*exchange = prefix + *exchange
			}
		}
		if _, isQueue := names.Lookup(r.Key); isQueue && !strings.HasPrefix(r.Key, "amq.") {
			r.Key = prefix + r.Key
		}
		w.names.InternRoute(r)
	}
	for i := range w.conns {
		var err error
		if w.conns[i], err = rabbitmq.Dial(context.Background(), url, w.names); err != nil {
			return nil, err
		}
	}
	return w, nil
}

var serial atomic.Uint64

// mark is an exclusive queue of the client. When it is gone, the client's connection has ended.
func (w *real) mark(client int) amqp.Queue { return amqp.Queue(w.queues + client + 1) }

// end deletes queues and exchanges that are left, and closes all connections.
func (w *real) end() error {
	for i, c := range w.conns {
		if i != observer {
			w.fail(c.Close())
		}
	}
	w.do(observer, []amqp.Command{{Method: amqp.ConnectionOpen}})
	w.do(observer, []amqp.Command{{Method: amqp.ChannelOpen, Channel: spare}})
	for q := range w.queues {
		w.do(observer, []amqp.Command{{Method: amqp.QueueDelete, Channel: spare, Queue: amqp.Queue(q + 1)}})
	}
	for r := range w.names.Routes() {
		if strings.HasPrefix(w.names.Routing(amqp.Route(r+1)).Exchange, w.prefix) {
			w.do(observer, []amqp.Command{{Method: amqp.ExchangeDelete, Channel: spare, Route: amqp.Route(r + 1)}})
		}
	}
	w.fail(w.conns[observer].Close())
	return w.err
}

func (w *real) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// marker is the number of the channel on which a client declares its mark.
const marker = spare + 1

func (w *real) do(client int, batch []amqp.Command) []amqp.Reply {
	replies := w.conns[client].Do(batch)
	for i, r := range replies {
		cmd := batch[i]
		switch {
		case r.Kind == amqp.ConnectionClosed, cmd.Method == amqp.ConnectionClose:
			w.owned[client] = nil
		case r.Kind != amqp.OK:
		case cmd.Method == amqp.ConnectionOpen && w.owned[client] == nil:
			w.owned[client] = map[amqp.Queue]bool{}
			w.do(client, []amqp.Command{
				{Method: amqp.ChannelOpen, Channel: marker},
				{Method: amqp.QueueDeclare, Channel: marker, Queue: w.mark(client), Flags: amqp.Exclusive},
			})
		case cmd.Method == amqp.QueueDeclare && !cmd.Flags.Has(amqp.Passive):
			for _, owned := range w.owned {
				delete(owned, cmd.Queue)
			}
			if cmd.Flags.Has(amqp.Exclusive) {
				w.owned[client][cmd.Queue] = true
			}
		}
	}
	return replies
}

// kill cuts a client's socket, and waits until its exclusive queues are gone.
func (w *real) kill(client int) {
	w.conns[client].Kill()
	// This command makes the client notice that its socket is closed.
	w.conns[client].Do([]amqp.Command{{Method: amqp.BasicQos, Channel: marker}})
	for q := range w.owned[client] {
		w.eventually("a killed connection's queue is gone", func() bool {
			return w.conns[observer].Do([]amqp.Command{
				{Method: amqp.ChannelOpen, Channel: marker + 1},
				{Method: amqp.QueueDeclare, Channel: marker + 1, Queue: q, Flags: amqp.Passive},
			})[1].Code == amqp.NotFound
		})
	}
	w.owned[client] = nil
}

// patience is how long to wait for the real broker by default.
const patience = 30 * time.Second

// eventually waits until holds returns true, for at most w.patience. After that it records an error.
func (w *real) eventually(what string, holds func() bool) {
	for deadline := time.Now().Add(w.patience); !holds(); {
		if time.Now().After(deadline) {
			w.fail(fmt.Errorf("not within %v: %s", w.patience, what))
			return
		}
	}
}

func (w *real) deliveries(client, n int) []amqp.Delivery {
	return sorted(w.conns[client].Deliveries(n, w.patience, nil))
}

// advance sleeps for ms milliseconds.
func (w *real) advance(ms int64) {
	begin, d := time.Now(), time.Duration(ms)*time.Millisecond
	time.Sleep(d)
	w.late = max(w.late, time.Since(begin)-d)
}

func (w *real) restart() {
	w.fail(w.again(context.Background()))
	w.owned = [clients]map[amqp.Queue]bool{}
}
