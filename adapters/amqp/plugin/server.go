package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/scenario"
)

// Config says which broker is behind the gate. The zero value is a simulated one.
type Config struct {
	// URL is the address of a real RabbitMQ, which others may use at the same time; "" is the simulated broker. A real
	// broker is not restarted, and has the real time.
	URL string
	// Sweep deletes queues from a real broker.
	Sweep func(queues []string) error
	// Notes records what clients create on a real broker; nil records nothing.
	Notes Notes
	// Version is the real broker's version, in its own words. The simulated broker beside it behaves like that version.
	Version string
}

// Server is a broker behind the gate.
type Server struct {
	config   Config
	broker   broker
	prefix   string
	names    *names
	declared Declared // queues declared on a real broker
}

var _ gate.Stated = (*Server)(nil)

// broker has the methods of both kinds of brokers.
type broker interface {
	wire.Backend
	// Observe shows the broker's state, as far as it is known: see Disagreement.
	Observe(func(wire.State))
	// CloseChannel closes a channel as if the broker had an internal error.
	CloseChannel(c *wire.Conn, channel uint16, code amqp.Code) bool
	// Forget removes a queue from the assumed state, and from the simulated broker.
	Forget(queue string)
	// Advance and Restart do nothing on a real broker.
	Advance(ms int64)
	Restart()
	Disagreement() string
	Agreed() int
}

// simulated is the simulated broker, whose state is known.
type simulated struct{ *wire.Simulated }

func (b simulated) Forget(queue string)  { b.Delete(queue) }
func (b simulated) Disagreement() string { return "" }
func (b simulated) Agreed() int          { return 0 }

// real is a real broker with a simulated one beside it.
type real struct{ *wire.Mirror }

func (b real) Advance(int64) {}
func (b real) Restart()      {}

// Simulated is a new simulated broker.
func Simulated() (gate.Server, error) { return Config{}.Open() }

// Open is a new simulated broker, or a proxy to a real one.
func (c Config) Open() (gate.Server, error) {
	if c.URL == "" {
		return &Server{broker: simulated{wire.NewSimulated(wire.SimulatedOptions{})}, names: new(names)}, nil
	}
	proxy, err := wire.ProxyTo(c.URL)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, prefix: stress.Prefix(), names: new(names)}
	if c.Notes != nil {
		s.prefix = c.Notes.Prefix()
		proxy.Declaring = func(queue, exchange string) {
			s.declared.Take(queue)
			c.Notes.Note(queue, exchange)
		}
	}
	s.broker = real{wire.NewMirror(proxy, c.Version)}
	return s, nil
}

// Endpoints is 1.
func (s *Server) Endpoints() int { return 1 }

// Prefix begins the names of all queues.
func (s *Server) Prefix() string { return s.prefix }

// Ours reports whether the broker is simulated.
func (s *Server) Ours() bool { return s.config.URL == "" }

// Plays reports whether the server supports a fault: a real broker is not restarted.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.Restart || s.Ours() }

// Advance lets ms milliseconds of virtual time pass.
func (s *Server) Advance(ms int64) { s.broker.Advance(ms) }

// Restart stops the broker and starts it again.
func (s *Server) Restart() { s.broker.Restart() }

// Disagreement describes the first difference between a real broker and the simulated one.
func (s *Server) Disagreement() string { return s.broker.Disagreement() }

// Agreed is the number of replies on which both brokers agreed.
func (s *Server) Agreed() int { return s.broker.Agreed() }

// Close deletes what clients have left on a real broker.
func (s *Server) Close() error {
	if s.Ours() {
		return nil
	}
	var left []string
	s.broker.Observe(func(v wire.State) { left = slices.Sorted(v.Queues()) })
	if err := s.Remove(left); err != nil {
		return fmt.Errorf("clearing the broker: %w", err)
	}
	return nil
}

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.names = &names{here: part, before: make(map[string]bool)}
	s.broker.Observe(func(v wire.State) {
		for name := range v.Queues() {
			s.names.before[name] = true
		}
	})
}

// Items are the queues that did not exist before the run, by name.
func (s *Server) Items() (all []gate.Item) {
	s.broker.Observe(func(v wire.State) {
		for name := range v.Queues() {
			if s.names.before[name] {
				continue
			}
			item := gate.Item{Name: name, Amount: v.Depth(name), Lasts: v.Expiry(name)}
			if owner := v.Owner(name); owner != nil {
				item.Owner = connOf(owner)
			}
			all = append(all, item)
		}
	})
	slices.SortFunc(all, func(a, b gate.Item) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// State describes the queues and their owners. whole is true if the simulated broker has no other state.
func (s *Server) State(client func(gate.Conn) uint8) (state string, whole bool) {
	if !s.Ours() {
		return "", false
	}
	var queues []string
	s.broker.Observe(func(v wire.State) {
		whole = v.Plain()
		for name := range v.Queues() {
			flags, args := v.Declared(name)
			owner := uint8(0)
			if c := v.Owner(name); c != nil {
				owner = client(connOf(c))
			}
			queues = append(queues, fmt.Sprintln(s.Canonical(name), flags, args, owner))
		}
	})
	slices.Sort(queues)
	return strings.Join(queues, ""), whole
}

// Canonical is a queue's name in traces.
func (s *Server) Canonical(queue string) string { return s.names.canonical(queue) }

// Words are the words queue and messages.
func (s *Server) Words() (item, amount string) { return "queue", "messages" }

// Holders are the holders of a lock, according to declaration d.
func (s *Server) Holders(d holding.Declared, lock string, slots int, client func(gate.Conn) uint8) (all []holding.Hold) {
	s.broker.Observe(func(v wire.State) {
		all = Holders(v, d, lock, slots, func(c *wire.Conn) uint8 { return client(connOf(c)) })
	})
	return all
}

// Crowds reports whether clients declare queues on a real broker whose names are not derived from a lock's name.
func (s *Server) Crowds() bool {
	return slices.ContainsFunc(s.declared.Queues(), func(q string) bool { return !strings.Contains(q, s.prefix) })
}

// Remove deletes queues.
func (s *Server) Remove(queues []string) error {
	if !s.Ours() && s.config.Sweep == nil {
		queues = nil
	}
	for _, q := range queues {
		s.broker.Forget(q)
	}
	if s.Ours() {
		return nil
	}
	if len(queues) > 0 {
		if err := s.config.Sweep(queues); err != nil {
			return err
		}
	}
	s.settle()
	return nil
}

// settle removes the notes of queues that clients have deleted themselves, if the existing queues are known.
func (s *Server) settle() {
	if s.config.Notes == nil || s.Disagreement() != "" {
		return
	}
	s.broker.Observe(func(v wire.State) { s.config.Notes.Forget(s.declared.Gone(v.Exists)) })
}

// Listen opens an address for one client.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	server, err := wire.Listen("127.0.0.1:0", wire.Config{
		Backend: s.broker, Gate: door{s, g}, MaxConnections: l.Connections, MaxHandshake: l.Handshake,
	})
	if err != nil {
		return nil, err
	}
	return &address{server, s.config.URL}, nil
}

// address is where one client finds the broker.
type address struct {
	*wire.Server
	real string // URL of the real broker, "" if there is none
}

// URLs are the address in the form that clients expect.
func (a *address) URLs() ([]string, error) {
	if a.real != "" {
		url, err := a.URLFor(a.real)
		return []string{url}, err
	}
	return []string{a.URL()}, nil
}

// Counts counts what has gone over the address's connections.
func (a *address) Counts() gate.Counts { return CountsOf(a.Server.Counts()) }

// ofLogin are the methods that open and close a connection, which are counted as connections instead.
var ofLogin = map[frame.ID]bool{
	frame.ConnectionStartOkID: true, frame.ConnectionTuneOkID: true, frame.ConnectionOpenID: true,
	frame.ConnectionCloseID: true, frame.ConnectionCloseOkID: true,
}

// CountsOf are a server's counts in the form of package gate.
func CountsOf(c wire.Counts) gate.Counts {
	counts := gate.Counts{
		Opened: c.Opened, RoundTrips: c.RoundTrips, In: gate.Traffic(c.In), Out: gate.Traffic(c.Out), Heartbeats: c.HeartbeatsIn,
		Commands: make(map[string]int),
	}
	for id, m := range c.Used() {
		if !ofLogin[id] {
			counts.Commands[id.String()] = m.Received
		}
	}
	return counts
}
