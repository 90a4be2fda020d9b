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

// Config says which broker stands behind the gate. The zero value is a simulated one.
type Config struct {
	// URL is where a real RabbitMQ is, which others may use at the same time; "" is the simulated broker. A real one is not
	// restarted, and no time passes for it but its own.
	URL string
	// Sweep deletes queues from a real broker.
	Sweep func(queues []string) error
	// Notes keeps account of what clients make on a real broker; nil keeps none.
	Notes Notes
	// Version is what a real broker calls itself: the simulated one beside it is to be like that.
	Version string
}

// Server is a broker behind the gate.
type Server struct {
	config   Config
	broker   broker
	prefix   string
	names    *names
	declared Declared // on a real broker
}

var _ gate.Stated = (*Server)(nil)

// broker is what both kinds of brokers offer.
type broker interface {
	wire.Backend
	// Observe shows what it has, as far as that is known: see Disagreement.
	Observe(func(wire.State))
	// CloseChannel closes a channel as for an error of the broker's own.
	CloseChannel(c *wire.Conn, channel uint16, code amqp.Code) bool
	// Forget deletes a queue from what it is thought to have, and from the simulated broker.
	Forget(queue string)
	// Advance and Restart do nothing to a real one.
	Advance(ms int64)
	Restart()
	Disagreement() string
	Agreed() int
}

// simulated is the simulated broker, which shows what it has.
type simulated struct{ *wire.Simulated }

func (b simulated) Forget(queue string)  { b.Delete(queue) }
func (b simulated) Disagreement() string { return "" }
func (b simulated) Agreed() int          { return 0 }

// real is a real broker with the simulated one beside it.
type real struct{ *wire.Mirror }

func (b real) Advance(int64) {}
func (b real) Restart()      {}

// Simulated is a simulated broker.
func Simulated() (gate.Server, error) { return Config{}.Open() }

// Open is a new simulated broker, or a way to a real one.
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

// Plays reports whether a fault can be made to happen: a real broker is not restarted.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.Restart || s.Ours() }

// Advance lets virtual milliseconds pass.
func (s *Server) Advance(ms int64) { s.broker.Advance(ms) }

// Restart stops the broker and starts it again.
func (s *Server) Restart() { s.broker.Restart() }

// Disagreement is how a real broker first did something else than the simulated one.
func (s *Server) Disagreement() string { return s.broker.Disagreement() }

// Agreed is how many replies of both were equal.
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

// Items are the queues that there were not before, by name.
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

// State is how the queues were declared, and whose they are, where that is all that a simulated broker has.
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

// Words are those of queues and messages.
func (s *Server) Words() (item, amount string) { return "queue", "messages" }

// Holders are who holds a lock.
func (s *Server) Holders(d holding.Declared, lock string, slots int, client func(gate.Conn) uint8) (all []holding.Hold) {
	s.broker.Observe(func(v wire.State) {
		all = Holders(v, d, lock, slots, func(c *wire.Conn) uint8 { return client(connOf(c)) })
	})
	return all
}

// Crowds reports whether clients declare queues on a real broker whose names have nothing to do with a lock's.
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

// settle takes back the notes of queues that clients have deleted themselves, where it is known which there are.
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
	real string // the URL of the real broker, "" where there is none
}

// URLs are the address as clients want it.
func (a *address) URLs() ([]string, error) {
	if a.real != "" {
		url, err := a.URLFor(a.real)
		return []string{url}, err
	}
	return []string{a.URL()}, nil
}

// Counts is what has gone over its connections.
func (a *address) Counts() gate.Counts { return CountsOf(a.Server.Counts()) }

// ofLogin are the methods by which a connection comes and goes, which are told of as connections.
var ofLogin = map[frame.ID]bool{
	frame.ConnectionStartOkID: true, frame.ConnectionTuneOkID: true, frame.ConnectionOpenID: true,
	frame.ConnectionCloseID: true, frame.ConnectionCloseOkID: true,
}

// CountsOf are the counts of a server as the gate knows them.
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
