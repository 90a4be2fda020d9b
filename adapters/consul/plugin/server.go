package plugin

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/consul"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/scenario"
)

// Server is a simulated Consul behind the gate.
type Server struct {
	gate.Private
	store  *consul.Server
	up     *upstream
	proxy  *stream.Proxy
	names  *stream.Names
	before map[string]bool // keys that there were before the run
}

var _ gate.Server = (*Server)(nil)

// Name is what the server is called.
func Name() (string, error) { return "a simulated Consul", nil }

// Open starts one. A lock on several has its keys on each: none is known that does that.
func Open(servers int) (gate.Server, error) {
	if servers != 1 {
		return nil, fmt.Errorf("%d servers of Consul: expected one, which stands for a cluster", servers)
	}
	s := &Server{store: consul.NewStill(), names: stream.NewNames("")}
	var err error
	if s.up, err = serve(s.store); err != nil {
		return nil, err
	}
	s.proxy = stream.NewProxy(protocol{}, s.up, 0)
	return s, nil
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

// Advance lets milliseconds pass, and waits for what the server says then.
func (s *Server) Advance(ms int64) {
	s.store.Advance(ms)
	_ = s.proxy.Settle() // its barrier does not fail
}

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.before = make(map[string]bool)
	for _, e := range s.store.Keys() {
		s.before[e.Key] = true
	}
	s.names = stream.NewNames(part)
	s.proxy.Begin(s.names)
}

// Items are the keys that there were not before. One that a session holds lasts as long as the session, at least.
func (s *Server) Items() (all []gate.Item) {
	for _, e := range s.store.Keys() {
		if !s.before[e.Key] {
			all = append(all, gate.Item{Name: e.Key, Lasts: s.store.Left(e.Session)})
		}
	}
	return all
}

// Canonical is a key's name in traces.
func (s *Server) Canonical(key string) string { return s.names.Item(key) }

// Words are those of keys, which have nothing in them that is counted.
func (s *Server) Words() (item, amount string) { return "key", "" }

// Remove deletes keys.
func (s *Server) Remove(items []string) error {
	for _, e := range s.store.Keys() {
		if slices.Contains(items, e.Key) {
			s.store.Delete(e.Key)
		}
	}
	return nil
}

// Close ends the server.
func (s *Server) Close() error { return s.up.close() }
