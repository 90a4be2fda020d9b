package plugin

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

func init() {
	lock.RegisterServer("etcd", "etcd", lock.Words{Hold: "a key with a lease"})
}

// Server is an etcd of our own behind the gate.
type Server struct {
	gate.Private
	*instance
	proxy   *stream.Proxy
	names   *stream.Names
	before  map[string]bool // keys that there were before the run
	failure error           // of what could not be done
}

var _ gate.Server = (*Server)(nil)

// Open starts one. A lock on several has its keys on each: none is known that does that.
func Open(servers int) (gate.Server, error) {
	if servers != 1 {
		return nil, fmt.Errorf("%d servers of etcd: expected one, which stands for a cluster", servers)
	}
	i, err := start()
	if err != nil {
		return nil, err
	}
	return &Server{instance: i, names: stream.NewNames(""), proxy: stream.NewProxy(protocol{i.leases}, i, 0)}, nil
}

// Listen opens an address for one client.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	a, err := s.proxy.Listen(g, l, func(host string) string { return "http://" + host })
	if err != nil {
		return nil, err
	}
	return stream.Addresses{a}, nil
}

// Plays reports whether a fault can be made to happen: connections have no channels, and the server stands for a cluster, which is
// not restarted.
func (s *Server) Plays(do scenario.ActionKind) bool {
	return do != scenario.ChannelError && do != scenario.Restart
}

// Advance lets milliseconds pass: leases end that are over then.
func (s *Server) Advance(ms int64) {
	over := s.leases.advance(ms)
	for _, id := range over {
		s.leases.ended(id)
		s.fails(s.control.revoke(id))
	}
	if len(over) > 0 { // nothing else happens by itself
		s.fails(s.proxy.Settle())
	}
}

// fails keeps the first error.
func (s *Server) fails(err error) { s.failure = cmp.Or(s.failure, err) }

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.leases.begin()
	s.before = make(map[string]bool)
	for _, k := range s.keys() {
		s.before[string(k.Key)] = true
	}
	s.names = stream.NewNames(part)
	s.proxy.Begin(s.names)
}

// keys are those of clients.
func (s *Server) keys() []key {
	all, err := s.control.keys()
	s.fails(err)
	return slices.DeleteFunc(all, func(k key) bool { return string(k.Key) == string(probe) })
}

// Items are the keys that there were not before.
func (s *Server) Items() (all []gate.Item) {
	for _, k := range s.keys() {
		if name := string(k.Key); !s.before[name] {
			all = append(all, gate.Item{Name: name, Lasts: s.leases.left(k.Lease)})
		}
	}
	return all
}

// Canonical is a key's name in traces.
func (s *Server) Canonical(key string) string { return s.leases.item(key, s.names) }

// Words are those of keys, which have nothing in them that is counted.
func (s *Server) Words() (item, amount string) { return "key", "" }

// Remove deletes keys.
func (s *Server) Remove(items []string) error {
	for _, k := range s.keys() {
		if slices.Contains(items, string(k.Key)) {
			s.fails(s.control.remove(k.Key))
		}
	}
	return cmp.Or(s.failure, s.failed())
}

// Close ends the server.
func (s *Server) Close() error { return s.close() }
