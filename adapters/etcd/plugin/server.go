package plugin

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/lock"
)

func init() {
	lock.RegisterServer("etcd", "etcd", lock.Words{Hold: "a key with a lease"})
}

// Server is an etcd of our own behind the gate.
type Server struct {
	stream.Lone
	instance *instance
}

var _ gate.Server = (*Server)(nil)

// Open starts one.
func Open(servers int) (gate.Server, error) {
	if err := stream.ErrSeveral("etcd", servers); err != nil {
		return nil, err
	}
	i, err := start()
	if err != nil {
		return nil, err
	}
	s := &Server{instance: i}
	s.Lone = stream.NewLone(stream.NewProxy(protocol{i.leases}, i, 0), "http", "key", s.items)
	return s, nil
}

// Advance lets milliseconds pass: leases end that are over then.
func (s *Server) Advance(ms int64) {
	over := s.instance.leases.advance(ms)
	for _, id := range over {
		s.instance.leases.ended(id)
		s.Note(s.instance.control.revoke(id))
	}
	if len(over) > 0 { // nothing else happens by itself
		s.Note(s.Settle())
	}
}

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.instance.leases.begin()
	s.Lone.Begin(part)
}

// keys are those of clients.
func (s *Server) keys() []key {
	all, err := s.instance.control.keys()
	s.Note(err)
	return slices.DeleteFunc(all, func(k key) bool { return string(k.Key) == string(probe) })
}

// items are the keys of clients.
func (s *Server) items() (all []gate.Item) {
	for _, k := range s.keys() {
		all = append(all, gate.Item{Name: string(k.Key), Lasts: s.instance.leases.left(k.Lease)})
	}
	return all
}

// Canonical is a key's name in traces.
func (s *Server) Canonical(key string) string { return s.instance.leases.item(key, s.Names()) }

// Remove deletes keys.
func (s *Server) Remove(items []string) error {
	for _, k := range s.keys() {
		if slices.Contains(items, string(k.Key)) {
			s.Note(s.instance.control.remove(k.Key))
		}
	}
	return cmp.Or(s.Err(), s.instance.failed())
}

// Close ends the server.
func (s *Server) Close() error { return s.instance.close() }
