package wire

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// SimulatedOptions are the options of a simulated broker. The zero value has the defaults.
type SimulatedOptions struct {
	Broker broker.Options
	// Version is the reported version of RabbitMQ; "" is 3.10.8. Broker decides the behaviour: see [broker.Like].
	Version string
	// Heartbeat is the interval that clients are offered, in whole seconds; 0 is RabbitMQ's default of a minute, and a
	// negative value is none. Heartbeats follow real time, even if the broker's time is virtual.
	Heartbeat time.Duration
	// Users are passwords by name; nil is the user guest with the password guest.
	Users map[string]string
	// ConsumerTimeout is how long a channel may leave a message unacknowledged, by the broker's clock; 0 is RabbitMQ's
	// default of half an hour, and a negative value is unlimited.
	ConsumerTimeout time.Duration
	// VirtualHosts are the names of additional virtual hosts.
	VirtualHosts []string
	// MaxMessages is the maximum size of the messages in a virtual host, in bytes; 0 is 1 GiB. Exceeding it closes the
	// connection with 506.
	MaxMessages int
}

// Simulated is the simulated broker as a [Backend]. All commands go to one [broker.Broker] in the order in which they
// pass the gate, and the replies depend on that order alone. It has one virtual host, called "/" or "", unless more
// are requested. Its time stands still except for [Simulated.Advance], unless [Simulated.FollowClock] lets it run.
//
// Features that the model lacks are refused with 540 and an explanation: a prefetch count for a whole channel, direct
// replies, copies by CC and BCC, streams, and parts of quorum queues.
type Simulated struct {
	opts  SimulatedOptions
	clock *clock // nil while time is moved by Advance

	mu           sync.Mutex
	*virtualHost                // "/"
	hosts        []*virtualHost // all of them
	named        int            // names made up for queues and consumers
	given        string         // the next one, if it is not to be made up
	spoken       []listener
}

// NewSimulated returns a broker without queues or connections.
func NewSimulated(opts SimulatedOptions) *Simulated {
	if opts.Heartbeat == 0 {
		opts.Heartbeat = time.Minute
	}
	opts.Version = cmp.Or(opts.Version, "3.10.8")
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
	for _, name := range append([]string{"/"}, opts.VirtualHosts...) {
		s.hosts = append(s.hosts, newVirtualHost(name, &opts))
	}
	s.virtualHost = s.hosts[0]
	return s
}

// Verbatim is false: commands are taken for what they mean.
func (s *Simulated) Verbatim() bool { return false }

// Connect greets a client.
func (s *Simulated) Connect(c *Conn) (Session, error) {
	c.Answer(Message{Method: greeting(s.opts.Version)})
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
	for _, h := range s.hosts {
		h.tell()
	}
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
func (h *virtualHost) tell() {
	if h.consumers == 0 {
		return
	}
	for _, x := range h.sessions {
		if x != nil {
			x.deliver()
		}
	}
}

// Advance lets virtual milliseconds pass.
func (s *Simulated) Advance(ms int64) { s.do(func() { s.advance(ms) }) }

// advance lets time pass in the model, and tells clients whose channels were closed for it.
func (s *Simulated) advance(ms int64) {
	for _, h := range s.hosts {
		before := h.broker.Late()
		h.broker.Advance(ms)
		if h.broker.Late() == before {
			continue
		}
		for _, x := range h.sessions {
			if x != nil {
				x.closeLate()
			}
		}
	}
}

// closeLate tells a client of channels that were closed for acknowledging too late.
func (x *simSession) closeLate() {
	for _, number := range slices.Sorted(maps.Keys(x.channels)) {
		ch := x.channels[number]
		if ch.closing == 0 && x.host.broker.Broken(x.conn, number) != 0 {
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
		for _, h := range s.hosts {
			i := slices.IndexFunc(h.sessions, func(x *simSession) bool { return x != nil && x.c == c })
			if i < 0 {
				continue
			}
			if ch := h.sessions[i].channels[channel]; ch != nil && ch.closing == 0 {
				h.sessions[i].closeChannel(ch, &refusal{code: frame.Code(code), text: "closed by the schedule"})
				closed = true
			}
		}
	})
	return closed
}

// Restart has the broker go down and come up again: clients are told that their connections are over,
// and what is not durable is gone.
func (s *Simulated) Restart() {
	s.do(func() {
		for _, x := range s.restart() {
			if x != nil {
				x.over(&refusal{code: frame.ConnectionForced, text: "broker forced connection closure with reason 'shutdown'"})
			}
		}
	})
}

// restart restarts the model, and returns whose connections that ends.
func (s *Simulated) restart() (sessions []*simSession) {
	for _, h := range s.hosts {
		h.broker.Restart()
		sessions = append(sessions, h.sessions...)
	}
	return sessions
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
