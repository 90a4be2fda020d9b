package plugin

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/lock"
)

func init() {
	lock.RegisterServer("zookeeper", "ZooKeeper", lock.Words{Hold: "an ephemeral node"})
}

// Server is a ZooKeeper that lockproof started, behind the gate.
type Server struct {
	stream.Lone
	instance *instance
}

var _ gate.Sessional = (*Server)(nil)

// Open starts a ZooKeeper behind the gate. The number of servers must be 1.
func Open(servers int) (gate.Server, error) {
	if err := stream.ErrSeveral("ZooKeeper", servers); err != nil {
		return nil, err
	}
	i, err := start()
	if err != nil {
		return nil, err
	}
	s := &Server{instance: i}
	s.Lone = stream.NewLone(stream.NewProxy(protocol{i.sessions}, i, 0), "zookeeper", "node", s.items)
	return s, nil
}

// LongestSession is the longest timeout that the server grants.
func (s *Server) LongestSession() int64 { return longestSession }

// Advance lets milliseconds pass, and ends the sessions that expire.
func (s *Server) Advance(ms int64) {
	over := s.instance.sessions.advance(ms)
	for _, o := range over {
		s.Note(s.instance.end(o))
	}
	if len(over) > 0 { // unless sessions expire, time has no effect
		s.Note(s.Settle())
	}
}

// nodes returns the nodes that clients have created, parents first.
func (s *Server) nodes() []node {
	all, err := s.instance.control.nodes()
	s.Note(err)
	return all
}

// items returns the nodes of clients. An ephemeral node lasts as long as its session.
func (s *Server) items() (all []gate.Item) {
	for _, n := range s.nodes() {
		all = append(all, gate.Item{Name: n.path, Lasts: s.instance.sessions.left(n.owner)})
	}
	return all
}

// Canonical returns a node's name as traces show it.
func (s *Server) Canonical(path string) string { return item(path, s.Names()) }

// Remove deletes the given nodes, children first.
func (s *Server) Remove(items []string) error {
	for _, n := range slices.Backward(s.nodes()) {
		if slices.Contains(items, n.path) {
			s.Note(s.instance.control.remove(n.path))
		}
	}
	return s.Err()
}

// Close stops the server.
func (s *Server) Close() error { return s.instance.close() }
