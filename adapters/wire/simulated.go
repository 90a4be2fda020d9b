package wire

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/broker"
)

// SimulatedOptions are the options of a simulated broker. The zero value has the defaults.
type SimulatedOptions struct {
	Broker broker.Options
	// Heartbeat is the interval that clients are offered, in whole seconds; 0 means RabbitMQ's minute,
	// below 0 none. It is real time, whatever else drives the broker's.
	Heartbeat time.Duration
	// Users are passwords by name; nil means guest with the password guest.
	Users map[string]string
	// ConsumerTimeout is how long a channel may have a message without acknowledging it, by the broker's clock; 0 means
	// RabbitMQ's half an hour, below 0 for ever.
	ConsumerTimeout time.Duration
	// MaxMessages is how many bytes of messages the broker keeps; 0 means 1 GiB. Publishing more closes
	// the connection with 506.
	MaxMessages int
}

// Simulated is the simulated broker as a [Backend]: all commands, in the order in which they pass the
// gate, go to one [broker.Broker], and what clients are answered depends on that order alone. It has
// one virtual host, called "/" or "". Its time stands still but for [Simulated.Advance], unless
// [Simulated.FollowClock] has it run.
//
// What the model does not have is refused with 540 and a text that says so: a prefetch count for a whole
// channel, dead letters, direct replies, copies by CC and BCC, queues of other types.
type Simulated struct {
	opts  SimulatedOptions
	clock *clock // nil while time is moved by Advance

	mu        sync.Mutex
	broker    *broker.Broker
	queues    register
	messages  store
	sessions  []*simSession // by broker.Conn-1; nil where there is none
	consumers int           // of all sessions
	named     int           // names made up for queues and consumers
	given     string        // the next one, if it is not to be made up
	spoken    []listener
	buf       []amqp.Delivery
}

// NewSimulated returns a broker without queues or connections.
func NewSimulated(opts SimulatedOptions) *Simulated {
	if opts.Heartbeat == 0 {
		opts.Heartbeat = time.Minute
	}
	if opts.Users == nil {
		opts.Users = map[string]string{"guest": "guest"}
	}
	if opts.ConsumerTimeout == 0 {
		opts.ConsumerTimeout = 30 * time.Minute
	}
	opts.Broker.ConsumerTimeout = max(opts.ConsumerTimeout, 0).Milliseconds()
	if opts.MaxMessages == 0 {
		opts.MaxMessages = 1 << 30
	}
	s := &Simulated{opts: opts}
	s.broker = broker.New(&s.queues.names, opts.Broker)
	s.queues.broker = s.broker
	s.messages.limit = opts.MaxMessages
	return s
}

// Verbatim is false: commands are taken for what they mean.
func (s *Simulated) Verbatim() bool { return false }

// Connect greets a client.
func (s *Simulated) Connect(c *Conn) (Session, error) {
	c.Answer(Message{Method: greeting})
	return &simSession{s: s, c: c, to: c, state: starting}, nil
}

// do does something with the broker, then lets clients know what it has come to.
func (s *Simulated) do(what func()) {
	s.mu.Lock()
	clock := s.clock
	if clock != nil {
		s.advance(clock.since(s.broker.Now()))
	}
	what()
	s.tell()
	spoken := s.spoken
	s.spoken = nil
	s.mu.Unlock()
	for _, c := range spoken {
		c.Flush()
	}
	if clock != nil {
		signal(clock.kick)
	}
}

// tell hands out deliveries, and tells consumers of queues that are gone.
func (s *Simulated) tell() {
	if s.consumers == 0 {
		return
	}
	for _, x := range s.sessions {
		if x != nil {
			x.deliver()
		}
	}
}

// Advance lets virtual milliseconds pass.
func (s *Simulated) Advance(ms int64) { s.do(func() { s.advance(ms) }) }

// advance lets time pass in the model, and tells clients whose channels were closed for it.
func (s *Simulated) advance(ms int64) {
	before := s.broker.Late()
	s.broker.Advance(ms)
	if s.broker.Late() == before {
		return
	}
	for _, x := range s.sessions {
		if x != nil {
			x.closeLate()
		}
	}
}

// closeLate tells a client of channels that were closed for acknowledging too late.
func (x *simSession) closeLate() {
	for _, number := range slices.Sorted(maps.Keys(x.channels)) {
		ch := x.channels[number]
		if ch.closing == 0 && x.s.broker.Broken(x.conn, number) != 0 {
			x.closeChannel(ch, refusef(frame.PreconditionFailed, "delivery acknowledgement on channel %d timed out. "+
				"Timeout value used: %d ms. This timeout value can be configured, see consumers doc guide to learn more", number, x.s.opts.Broker.ConsumerTimeout))
		}
	}
}

// View shows the broker, and how to find a queue in it by its name, 0 where there is none of it.
func (s *Simulated) View(look func(b *broker.Broker, queue func(name string) amqp.Queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.broker, s.queues.lookup)
}

// CloseChannel closes a client's channel, as a broker does that has an error of its own. A channel
// that is not open stays as it is, and the answer is false.
func (s *Simulated) CloseChannel(c *Conn, channel uint16, code amqp.Code) (closed bool) {
	s.do(func() {
		i := slices.IndexFunc(s.sessions, func(x *simSession) bool { return x != nil && x.c == c })
		if i < 0 {
			return
		}
		if ch := s.sessions[i].channels[channel]; ch != nil && ch.closing == 0 {
			s.sessions[i].closeChannel(ch, &refusal{code: frame.Code(code), text: "closed by the schedule"})
			closed = true
		}
	})
	return closed
}

// Restart has the broker go down and come up again: clients are told that their connections are over,
// and what is not durable is gone.
func (s *Simulated) Restart() {
	s.do(func() {
		s.broker.Restart()
		for _, x := range s.sessions {
			if x != nil {
				x.over(&refusal{code: frame.ConnectionForced, text: "broker forced connection closure with reason 'shutdown'"})
			}
		}
	})
}

// generated is a name of the broker's choice, the same for the same commands.
func (s *Simulated) generated(prefix string) string {
	if given := s.given; given != "" {
		s.given = ""
		return given
	}
	s.named++
	return fmt.Sprintf("%s%022d", prefix, s.named)
}

// clock is real time for a simulated broker.
type clock struct {
	began time.Time
	first int64 // the broker's time then
	kick  chan struct{}
}

// since is how many milliseconds have passed that the broker does not know of.
func (c *clock) since(now int64) int64 {
	return max(c.first+time.Since(c.began).Milliseconds()-now, 0)
}
