package wire

import (
	"iter"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// State is the state of the simulated broker: queues, messages and consumers, by the names that clients use.
type State struct{ s *Simulated }

// Observe calls observe with the current state. The state must not be used after observe returns.
func (s *Simulated) Observe(observe func(State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	observe(State{s})
}

// Exists reports whether a queue with the given name exists.
func (v State) Exists(name string) bool { return v.s.broker.Exists(v.s.queues.lookup(name)) }

// Depth is the number of messages in a queue.
func (v State) Depth(name string) int { return v.s.broker.Depth(v.s.queues.lookup(name)) }

// Expiry is the number of milliseconds after which an unused queue expires (x-expires), or its messages do (x-message-ttl),
// whichever is longer; 0 is never.
func (v State) Expiry(name string) (ms int64) {
	_, args := v.Declared(name)
	if args.Has&amqp.HasExpires != 0 {
		ms = int64(args.Expires)
	}
	if args.Has&amqp.HasMessageTTL != 0 {
		ms = max(ms, int64(args.MessageTTL))
	}
	return ms
}

// Owner is the connection to which a queue is exclusive; nil if there is none.
func (v State) Owner(name string) *Conn {
	return v.conn(v.s.broker.Owner(v.s.queues.lookup(name)))
}

// conn is the connection with number n in the model; nil if there is none.
func (v State) conn(n broker.Conn) *Conn {
	if n == 0 || int(n) > len(v.s.sessions) || v.s.sessions[n-1] == nil {
		return nil
	}
	return v.s.sessions[n-1].c
}

// Plain reports whether the broker's state consists only of queues and connections, for example has no messages. See
// [broker.Broker.Plain].
func (v State) Plain() bool { return len(v.s.hosts) == 1 && v.s.broker.Plain() }

// Declared is the flags and arguments with which a queue was declared.
func (v State) Declared(name string) (amqp.Flags, amqp.Arguments) {
	return v.s.broker.Declared(v.s.queues.lookup(name))
}

// Held is a message in a queue, ready or delivered.
type Held struct {
	Conn    *Conn          // connection that has the message unacknowledged; nil if it is ready
	Channel uint16         // channel of that connection
	Tag     uint64         // delivery tag on that channel
	Content *frame.Content // nil if unknown
}

// Messages are the messages of a queue, first those that are ready, then those that are unacknowledged.
func (v State) Messages(name string) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		for m := range v.s.broker.Messages(v.s.queues.lookup(name)) {
			h := Held{Conn: v.conn(m.Conn), Channel: m.Channel, Tag: m.Tag}
			if stored := v.s.messages.get(m.Message); stored != nil {
				h.Content = stored.content
			}
			if !yield(h) {
				return
			}
		}
	}
}

// Consumer is a consumer of a queue, with its connection.
type Consumer struct {
	Conn      *Conn
	Channel   uint16
	Exclusive bool
	Single    bool // the queue has only one active consumer at a time
	Waits     bool // the consumer is not active, as another one is
}

// Consumers are the consumers of a queue.
func (v State) Consumers(name string) iter.Seq[Consumer] {
	return func(yield func(Consumer) bool) {
		for c := range v.s.broker.Consumers(v.s.queues.lookup(name)) {
			if !yield(Consumer{v.conn(c.Conn), c.Channel, c.Exclusive, c.Single, c.Waits}) {
				return
			}
		}
	}
}

// Queues are the names of all queues.
func (v State) Queues() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range v.s.queues.places {
			if p := &v.s.queues.places[id]; p.name != "" && v.s.broker.Exists(amqp.Queue(id)) && !yield(p.name) {
				return
			}
		}
	}
}

// Delete deletes a queue, whatever connection owns it.
func (s *Simulated) Delete(name string) {
	s.do(func() { s.broker.Delete(s.queues.lookup(name)) })
}
