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

// Server is an etcd that lockproof started, behind the gate.
type Server struct {
	stream.Lone
	instance *instance
}

var _ gate.Server = (*Server)(nil)

// Open starts an etcd behind the gate. The number of servers must be 1.
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

// Advance lets milliseconds pass, and ends the leases that are over then.
func (s *Server) Advance(ms int64) {
	over := s.instance.leases.advance(ms)
	for _, id := range over {
		s.instance.leases.ended(id)
		s.Note(s.instance.control.revoke(id))
	}
	if len(over) > 0 { // unless leases end, time has no effect
		s.Note(s.Settle())
	}
}

// Begin begins a run. part is the text that the names of the run's locks contain.
func (s *Server) Begin(part string) {
	s.instance.leases.begin()
	s.Lone.Begin(part)
}

// keys returns the keys that clients have created.
func (s *Server) keys() []key {
	all, err := s.instance.control.keys()
	s.Note(err)
	return slices.DeleteFunc(all, func(k key) bool { return string(k.Key) == string(probe) })
}

// items returns the keys that clients have created, as items of the gate.
func (s *Server) items() (all []gate.Item) {
	for _, k := range s.keys() {
		all = append(all, gate.Item{Name: string(k.Key), Lasts: s.instance.leases.left(k.Lease)})
	}
	return all
}

// Canonical returns a key's name as traces show it.
func (s *Server) Canonical(key string) string { return s.instance.leases.item(key, s.Names()) }

// Remove deletes the given keys.
func (s *Server) Remove(items []string) error {
	for _, k := range s.keys() {
		if slices.Contains(items, string(k.Key)) {
			s.Note(s.instance.control.remove(k.Key))
		}
	}
	return cmp.Or(s.Err(), s.instance.failed())
}

// Close stops the server.
func (s *Server) Close() error { return s.instance.close() }
