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
	lock.RegisterServer("zookeeper", "ZooKeeper", lock.Words{Hold: "an ephemeral node"})
}

// Server is a ZooKeeper of our own behind the gate.
type Server struct {
	gate.Private
	*instance
	proxy   *stream.Proxy
	names   *stream.Names
	before  map[string]bool // keys that there were before the run
	failure error           // of what could not be done
}

var _ gate.Server = (*Server)(nil)

// Open starts one. A lock on several has its nodes on each: none is known that does that.
func Open(servers int) (gate.Server, error) {
	if servers != 1 {
		return nil, fmt.Errorf("%d servers of ZooKeeper: expected one, which stands for a cluster", servers)
	}
	i, err := start()
	if err != nil {
		return nil, err
	}
	return &Server{instance: i, names: stream.NewNames(""), proxy: stream.NewProxy(protocol{i.sessions}, i, 0)}, nil
}

// Listen opens an address for one client.
func (s *Server) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	a, err := s.proxy.Listen(g, l, func(host string) string { return "zookeeper://" + host })
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

// Advance lets milliseconds pass: sessions end that are over then.
func (s *Server) Advance(ms int64) {
	over := s.sessions.advance(ms)
	for _, o := range over {
		s.fails(s.end(o))
	}
	if len(over) > 0 { // nothing else happens by itself
		s.fails(s.proxy.Settle())
	}
}

// fails keeps the first error.
func (s *Server) fails(err error) { s.failure = cmp.Or(s.failure, err) }

// Begin begins a run.
func (s *Server) Begin(part string) {
	s.before = make(map[string]bool)
	for _, n := range s.nodes() {
		s.before[n.path] = true
	}
	s.names = stream.NewNames(part)
	s.proxy.Begin(s.names)
}

// nodes are those of clients, parents first.
func (s *Server) nodes() []node {
	all, err := s.control.nodes()
	s.fails(err)
	return all
}

// Items are the nodes that there were not before. An ephemeral one lasts as long as its session.
func (s *Server) Items() (all []gate.Item) {
	for _, n := range s.nodes() {
		if !s.before[n.path] {
			all = append(all, gate.Item{Name: n.path, Lasts: s.sessions.left(n.owner)})
		}
	}
	return all
}

// Canonical is a node's name in traces.
func (s *Server) Canonical(path string) string { return item(path, s.names) }

// Words are those of nodes, which have nothing in them that is counted.
func (s *Server) Words() (item, amount string) { return "node", "" }

// Remove deletes nodes, children first.
func (s *Server) Remove(items []string) error {
	for _, n := range slices.Backward(s.nodes()) {
		if slices.Contains(items, n.path) {
			s.fails(s.control.remove(n.path))
		}
	}
	return s.failure
}

// Close ends the server.
func (s *Server) Close() error { return s.close() }
