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

// Config says which broker is behind the gate, the proxy that clients connect to. The zero value means a new simulated
// broker.
type Config struct {
	// URL is the address of a real RabbitMQ, which others may use at the same time; "" means the simulated broker. A
	// run on a real broker has real time and no restarts.
	URL string
	// Sweep deletes queues from a real broker. nil means that the queues stay.
	Sweep func(queues []string) error
	// Notes registers what clients create on a real broker; nil means no register.
	Notes Notes
	// Version is the real broker's version, as the broker reports it. A simulated broker runs in parallel and behaves
	// like that version.
	Version string
}

// Server is a broker behind the gate, the proxy that clients connect to.
type Server struct {
	config   Config
	broker   broker
	prefix   string
	names    *names
	declared Declared // queues declared on a real broker
}

var _ gate.Stated = (*Server)(nil)

// broker is what the simulated broker and the proxy to a real broker have in common.
type broker interface {
	wire.Backend
	// Observe calls its argument with the broker's state. A real broker's state is inferred, and only known while both
	// brokers agree: see Disagreement.
	Observe(func(wire.State))
	// CloseChannel makes the broker close a channel with the given reply code, as after an error. It reports whether
	// the channel was open; otherwise nothing happens.
	CloseChannel(c *wire.Conn, channel uint16, code amqp.Code) bool
	// Forget removes a queue from the simulated broker. With a real broker, that is the replica from which the real
	// broker's state is inferred.
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

// real is the proxy to a real broker, with a simulated broker that carries out the same commands.
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

// Endpoints is 1: all clients use one broker.
func (s *Server) Endpoints() int { return 1 }

// Prefix begins the names of all queues of the run; it is "" on the simulated broker.
func (s *Server) Prefix() string { return s.prefix }

// Ours reports whether the broker is simulated, so that no one else uses it.
func (s *Server) Ours() bool { return s.config.URL == "" }

// Plays reports whether the server can carry out a fault. All are possible except restarting a real broker.
func (s *Server) Plays(do scenario.ActionKind) bool { return do != scenario.Restart || s.Ours() }

// Advance lets ms milliseconds of virtual time pass.
func (s *Server) Advance(ms int64) { s.broker.Advance(ms) }

// Restart stops the broker and starts it again.
func (s *Server) Restart() { s.broker.Restart() }

// Disagreement describes the first difference between the replies of the real and the simulated broker; "" if there is
// none.
func (s *Server) Disagreement() string { return s.broker.Disagreement() }

// Agreed is the number of replies in which the real and the simulated broker agreed; 0 without a real broker.
func (s *Server) Agreed() int { return s.broker.Agreed() }

// Close deletes the queues that clients have left on a real broker.
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

// Begin begins a run. part is the beginning of lock names in this run.
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

// State describes the queues of a simulated broker, with their owners. whole is true if the broker has no other state,
// such as messages. On a real broker it is "" and false.
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

// Canonical is a queue's name in traces, which is the same in every run.
func (s *Server) Canonical(queue string) string { return s.names.canonical(queue) }

// Words are the words for what a server of this kind stores, for use in reports.
func (s *Server) Words() (item, amount string) { return "queue", "messages" }

// Holders are the holders of a lock on the broker. d declares what holds it, for example the owner of a queue.
func (s *Server) Holders(d holding.Declared, lock string, slots int, client func(gate.Conn) uint8) (all []holding.Hold) {
	s.broker.Observe(func(v wire.State) {
		all = Holders(v, d, lock, slots, func(c *wire.Conn) uint8 { return client(connOf(c)) })
	})
	return all
}

// Crowds reports whether clients have declared queues on a real broker under names that do not contain the run's
// prefix. Other users of the broker might use the same names.
func (s *Server) Crowds() bool {
	return slices.ContainsFunc(s.declared.Queues(), func(q string) bool { return !strings.Contains(q, s.prefix) })
}

// Remove deletes queues from the broker. On a real broker without Config.Sweep it deletes none.
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

// settle removes from the register the queues that clients have deleted themselves. It does nothing if the real
// broker's state is unknown.
func (s *Server) settle() {
	if s.config.Notes == nil || s.Disagreement() != "" {
		return
	}
	s.broker.Observe(func(v wire.State) { s.config.Notes.Forget(s.declared.Gone(v.Exists)) })
}

// Listen opens a TCP address through which one client reaches the broker.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	server, err := wire.Listen("127.0.0.1:0", wire.Config{
		Backend: s.broker, Gate: door{s, g}, MaxConnections: l.Connections, MaxHandshake: l.Handshake,
	})
	if err != nil {
		return nil, err
	}
	return &address{server, s.config.URL}, nil
}

// address is the TCP address through which one client reaches the broker.
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

// Counts is the traffic of this address: connections, round trips, bytes and commands.
func (a *address) Counts() gate.Counts { return CountsOf(a.Server.Counts()) }

// ofLogin are the methods that open and close a connection. Reports count them as connections and not as commands.
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
