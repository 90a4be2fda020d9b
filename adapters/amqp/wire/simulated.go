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

// Simulated is the simulated broker as a [Backend]. All commands go to one [broker.Broker] in the order in which they pass
// the gate, and the replies depend only on that order. It has one virtual host, called "/" or "", unless more are requested.
// Its time stands still except for [Simulated.Advance], unless [Simulated.FollowClock] lets it run.
//
// Features that the model lacks are refused with 540 and an explanation: a prefetch count for a whole channel, direct
// replies, copies by CC and BCC, streams, and parts of quorum queues.
type Simulated struct {
	opts  SimulatedOptions
	clock *clock // nil while Advance moves the time

	mu           sync.Mutex
	*virtualHost                // the virtual host "/"
	hosts        []*virtualHost // all virtual hosts
	named        int            // number of names generated for queues and consumers
	given        string         // the next generated name, if it is prescribed
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

// Verbatim is false: the backend uses decoded commands.
func (s *Simulated) Verbatim() bool { return false }

// Connect greets a client.
func (s *Simulated) Connect(c *Conn) (Session, error) {
	c.Answer(Message{Method: greeting(s.opts.Version)})
	return &simSession{s: s, c: c, to: c, state: starting}, nil
}

// do changes the broker with what, and then sends clients the resulting messages.
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

// tell sends deliveries, and notifies consumers whose queues are gone.
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

// Advance lets ms milliseconds of virtual time pass.
func (s *Simulated) Advance(ms int64) { s.do(func() { s.advance(ms) }) }

// advance lets time pass in the model, and notifies clients whose channels it has closed.
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

// closeLate notifies a client of channels that were closed because of late acknowledgements.
func (x *simSession) closeLate() {
	for _, number := range slices.Sorted(maps.Keys(x.channels)) {
		ch := x.channels[number]
		if ch.closing == 0 && x.host.broker.Broken(x.conn, number) != 0 {
			x.closeChannel(ch, refusef(frame.PreconditionFailed, "delivery acknowledgement on channel %d timed out. "+
				"Timeout value used: %d ms. This timeout value can be configured, see consumers doc guide to learn more", number, x.s.opts.Broker.ConsumerTimeout))
		}
	}
}

// View shows the broker. queue returns the number of the queue with the given name, 0 if there is none.
func (s *Simulated) View(look func(b *broker.Broker, queue func(name string) amqp.Queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.broker, s.queues.lookup)
}

// CloseChannel closes a client's channel, as a broker with an internal error does. If the channel is not open, nothing
// happens, and closed is false.
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

// Restart restarts the broker: it closes the clients' connections, and everything that is not durable is gone.
func (s *Simulated) Restart() {
	s.do(func() {
		for _, x := range s.restart() {
			if x != nil {
				x.over(&refusal{code: frame.ConnectionForced, text: "broker forced connection closure with reason 'shutdown'"})
			}
		}
	})
}

// restart restarts the model, and returns the sessions that end.
func (s *Simulated) restart() (sessions []*simSession) {
	for _, h := range s.hosts {
		h.broker.Restart()
		sessions = append(sessions, h.sessions...)
	}
	return sessions
}

// generated is a name that the broker generates. It is the same for the same commands.
func (s *Simulated) generated(prefix string) string {
	if given := s.given; given != "" {
		s.given = ""
		return given
	}
	s.named++
	return fmt.Sprintf("%s%022d", prefix, s.named)
}

// clock maps real time to the time of a simulated broker.
type clock struct {
	began time.Time
	first int64 // the broker's time at that moment
	kick  chan struct{}
}

// since is the number of milliseconds that have passed and that the broker has not been told of.
func (c *clock) since(now int64) int64 {
	return max(c.first+time.Since(c.began).Milliseconds()-now, 0)
}
