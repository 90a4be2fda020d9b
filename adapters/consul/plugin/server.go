package plugin

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/consul"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// Server is a simulated Consul behind the gate.
type Server struct {
	stream.Lone
	store *consul.Server
	up    *upstream
}

var _ gate.Server = (*Server)(nil)

// Name is the name of the server in reports.
func Name() (string, error) { return "a simulated Consul", nil }

// Open starts one server. More are refused, as no lock is known that uses several.
func Open(servers int) (gate.Server, error) {
	err := stream.ErrSeveral("Consul", servers)
	if err != nil {
		return nil, err
	}
	s := &Server{store: consul.NewStill()}
	if s.up, err = serve(s.store); err != nil {
		return nil, err
	}
	s.Lone = stream.NewLone(stream.NewProxy(protocol{}, s.up, 0), "http", "key", s.keys)
	return s, nil
}

// Advance lets milliseconds pass, and waits for what the server says then.
func (s *Server) Advance(ms int64) {
	s.store.Advance(ms)
	_ = s.Settle() // its barrier does not fail
}

// keys are all items. One that a session holds lasts as long as the session, at least.
func (s *Server) keys() (all []gate.Item) {
	for _, e := range s.store.Keys() {
		all = append(all, gate.Item{Name: e.Key, Lasts: s.store.Left(e.Session)})
	}
	return all
}

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
