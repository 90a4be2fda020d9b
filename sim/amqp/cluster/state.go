package cluster

import "math/bits"

// condition is how a node is.
type condition uint8

const (
	up      condition = iota
	leaving           // it takes no clients, closes their connections one after the other, and then waits or is off
	waiting           // it has left by itself, and comes back when it reaches others
	off               // it is down until it is started
	frozen            // it stands still
)

// set is a set of nodes, which count from 0 here.
type set uint8

func (s set) has(i int) bool      { return s&(1<<i) != 0 }
func (s set) with(i int) set      { return s | 1<<i }
func (s set) without(i int) set   { return s &^ (1 << i) }
func (s set) count() int          { return bits.OnesCount8(uint8(s)) }
func only(i int) set              { return 1 << i }
func all(nodes int) set           { return 1<<nodes - 1 }
func (s set) minus(other set) set { return s &^ other }

// nobody holds, owns or hosts; a client or a node is that number otherwise.
const nobody = -1

// node is one node.
type node struct {
	is    condition
	ends  bool // it was told to end: having left, it is off
	wary  bool // it stood still: its monitor does not pause it any more
	hears set  // the nodes whose messages reach it
	sees  set  // the nodes that it takes for running, itself among them
	owes  set  // the nodes that are gone, or were, and of which it has yet to notice that
	// owner and host are its record of the exclusive queue: the client that has it, and the node where it is.
	owner, host int8
	// master is the node where it takes a queue's process to be. token is the client that has the message of the queue whose
	// process is here, nobody if it is ready.
	master, token int8
}

// client is one of the two.
type client struct {
	connected, holds bool
}

// state is a state of the cluster. It is comparable: equal states go on equally.
type state struct {
	nodes   [MostModelled]node
	clients [2]client
	next    int8 // the fault that comes next
	// pending is an exclusive queue of which a minority has proposed to Khepri that it be deleted: its owner.
	pending int8
}

func (m *Model) initial() (s state) {
	s.pending = nobody
	for i := range m.Nodes {
		s.nodes[i] = node{hears: all(m.Nodes), sees: all(m.Nodes), owner: nobody, host: nobody, master: int8(m.Queue - 1), token: nobody}
	}
	s.clients = [2]client{{connected: true}, {connected: true}}
	return s
}

// place is the node of a client.
func (m *Model) place(c int) int { return [2]int{m.A - 1, m.B - 1}[c] }

// answers reports whether a node's processes run.
func (s *state) answers(i int) bool { return s.nodes[i].is == up || s.nodes[i].is == leaving }

// joined reports whether messages go both ways between two nodes that run.
func (s *state) joined(i, j int) bool {
	return s.answers(i) && s.answers(j) && (i == j || s.nodes[i].hears.has(j) && s.nodes[j].hears.has(i))
}

// talks reports whether two nodes run and take each other for running.
func (s *state) talks(i, j int) bool {
	return s.joined(i, j) && s.nodes[i].sees.has(j) && s.nodes[j].sees.has(i)
}

// part is the nodes that a node talks to, itself among them.
func (m *Model) part(s *state, i int) (all set) {
	for j := range m.Nodes {
		if s.talks(i, j) {
			all = all.with(j)
		}
	}
	return all
}

// majority reports whether a set is more than half of the nodes.
func (m *Model) majority(s set) bool { return 2*s.count() > m.Nodes }

// together reports whether a node can change a record: all nodes that it takes for running have to answer.
func (m *Model) together(s *state, i int) bool { return s.nodes[i].sees.minus(m.part(s, i)) == 0 }
