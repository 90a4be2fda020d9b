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

// SimulatedOptions are the options of a simulated broker. The zero value means the default for each.
type SimulatedOptions struct {
	Broker broker.Options
	// Version is the version of RabbitMQ that clients are told; "" means 3.10.8. It changes no behaviour: [broker.Like]
	// makes options for Broker that do.
	Version string
	// Heartbeat is the interval that the broker offers clients, in whole seconds. 0 means RabbitMQ's default of a
	// minute, and a negative value none. Heartbeats follow real time, even if the broker's time is virtual.
	Heartbeat time.Duration
	// Users maps users to passwords; nil means the user guest with the password guest.
	Users map[string]string
	// ConsumerTimeout is how long a channel may leave a message unacknowledged, by the broker's clock. 0 means
	// RabbitMQ's default of half an hour, and a negative value no limit.
	ConsumerTimeout time.Duration
	// VirtualHosts are the names of additional virtual hosts.
	VirtualHosts []string
	// MaxMessages limits the size of all messages in a virtual host, in bytes; 0 means 1 GiB. A publish beyond it
	// closes the connection with 506 RESOURCE_ERROR.
	MaxMessages int
}

// Simulated is the simulated broker as a [Backend]. All commands go to one [broker.Broker] in the order in which they
// pass the gate, and the replies depend only on that order. It has one virtual host, called "/" or "", unless more are
// requested. Its time moves only by calls of [Simulated.Advance], or with real time after a call of
// [Simulated.FollowClock].
//
// Features that the model lacks are refused with 540 and an explanation: a prefetch count for a whole channel, direct
// replies, copies by CC and BCC, streams, and parts of quorum queues.
type Simulated struct {
	opts  SimulatedOptions
	clock *clock // nil if only Advance moves the time

	mu           sync.Mutex
	*virtualHost                // the virtual host "/"
	hosts        []*virtualHost // all virtual hosts
	named        int            // number of names generated for queues and consumers
	given        string         // the next generated name if a mirror prescribes it; else ""
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

// Verbatim is false: the simulated broker needs only decoded commands.
func (s *Simulated) Verbatim() bool { return false }

// Connect creates a session for a client and sends it the broker's first method.
func (s *Simulated) Connect(c *Conn) (Session, error) {
	c.Answer(Message{Method: greeting(s.opts.Version)})
	return &simSession{s: s, c: c, to: c, state: starting}, nil
}

// do calls what, which changes the broker's state. It then sends clients the deliveries and notifications that result.
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

// tell sends deliveries to consumers, and notifies those whose queues are gone.
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

// advance moves the broker's time by ms milliseconds. Channels with late acknowledgements are closed, and their clients
// notified.
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

// closeLate closes the client's channels on which an acknowledgement is late.
func (x *simSession) closeLate() {
	for _, number := range slices.Sorted(maps.Keys(x.channels)) {
		ch := x.channels[number]
		if ch.closing == 0 && x.host.broker.Broken(x.conn, number) != 0 {
			x.closeChannel(ch, refusef(frame.PreconditionFailed, "delivery acknowledgement on channel %d timed out. "+
				"Timeout value used: %d ms. This timeout value can be configured, see consumers doc guide to learn more", number, x.s.opts.Broker.ConsumerTimeout))
		}
	}
}

// View calls look with the broker's state. queue maps a queue's name to its number, or 0 if there is no such queue.
func (s *Simulated) View(look func(b *broker.Broker, queue func(name string) amqp.Queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.broker, s.queues.lookup)
}

// CloseChannel closes a client's channel with the given reply code, as after an error. closed is false if the channel
// was not open; then nothing happens.
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

// Restart restarts the broker. It closes all connections and drops everything that is not durable.
func (s *Simulated) Restart() {
	s.do(func() {
		for _, x := range s.restart() {
			if x != nil {
				x.over(&refusal{code: frame.ConnectionForced, text: "broker forced connection closure with reason 'shutdown'"})
			}
		}
	})
}

// restart restarts the model, and returns the sessions that must be closed.
func (s *Simulated) restart() (sessions []*simSession) {
	for _, h := range s.hosts {
		h.broker.Restart()
		sessions = append(sessions, h.sessions...)
	}
	return sessions
}

// generated is a new name for a queue or consumer. It depends only on the number of names generated before.
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
	first int64 // the broker's time when began was taken, in ms
	kick  chan struct{}
}

// since is the number of milliseconds by which the broker's time is behind real time; 0 if it is not behind. now is the
// broker's time.
func (c *clock) since(now int64) int64 {
	return max(c.first+time.Since(c.began).Milliseconds()-now, 0)
}
