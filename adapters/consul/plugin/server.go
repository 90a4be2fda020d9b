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

// Name returns the name of the simulated server, as reports show it.
func Name() (string, error) { return "a simulated Consul", nil }

// Open starts one server. It refuses to start several, as no known lock uses several.
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

// Advance lets ms milliseconds pass. It waits until the server has reacted to that, and has sent its messages.
func (s *Server) Advance(ms int64) {
	s.store.Advance(ms)
	_ = s.Settle() // the Barrier of this server returns no error
}

// keys returns all keys as items of the gate. A key that a session holds may expire when the session ends; other keys
// never expire.
func (s *Server) keys() (all []gate.Item) {
	for _, e := range s.store.Keys() {
		all = append(all, gate.Item{Name: e.Key, Lasts: s.store.Left(e.Session)})
	}
	return all
}

// Remove deletes the given keys.
func (s *Server) Remove(items []string) error {
	for _, e := range s.store.Keys() {
		if slices.Contains(items, e.Key) {
			s.store.Delete(e.Key)
		}
	}
	return nil
}

// Close stops the server and closes its connections.
func (s *Server) Close() error { return s.up.close() }
