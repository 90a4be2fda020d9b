package cluster

import "math/bits"

// condition says whether a node is running, and if not, why.
type condition uint8

const (
	up      condition = iota
	leaving           // the node refuses clients and closes connections one by one; then it is waiting or off
	waiting           // the node has stopped by itself, and rejoins when it reaches others
	off               // the node is down until a fault of the kind start-node
	frozen            // a fault has paused the node's processes
)

// set is a set of nodes; bit 0 stands for the first node.
type set uint8

func (s set) has(i int) bool      { return s&(1<<i) != 0 }
func (s set) with(i int) set      { return s | 1<<i }
func (s set) without(i int) set   { return s &^ (1 << i) }
func (s set) count() int          { return bits.OnesCount8(uint8(s)) }
func only(i int) set              { return 1 << i }
func all(nodes int) set           { return 1<<nodes - 1 }
func (s set) minus(other set) set { return s &^ other }

// nobody stands for no client, or no node.
const nobody = -1

// node is the state of one node.
type node struct {
	is    condition
	ends  bool // the node was told to shut down, and is off after leaving
	wary  bool // a fault has paused the node, which no longer stops because of a minority
	hears set  // the nodes whose messages reach this node
	sees  set  // the nodes that this node believes to be running, including itself
	owes  set  // nodes whose absence, past or present, this node has yet to notice
	// owner and host are the node's record of the lock's exclusive queue: the client that owns the queue, and the node
	// that the queue is on.
	owner, host int8
	// master is the node on which this node believes the queue's process to be. If the process is on this node, token
	// is the client that has the queue's message, or nobody if the message is ready.
	master, token int8
}

// client is the state of one of the two clients.
type client struct {
	connected, holds bool
}

// state is a state of the cluster and its clients. It is comparable, so that a search can recognise visited states.
type state struct {
	nodes   [MostModelled]node
	clients [2]client
	next    int8 // index of the next fault
	// pending is the client whose exclusive queue a minority has proposed to delete, in Khepri; nobody if there is no
	// proposal.
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

// place returns the node to which client c is connected.
func (m *Model) place(c int) int { return [2]int{m.A - 1, m.B - 1}[c] }

// answers reports whether node i's processes run.
func (s *state) answers(i int) bool { return s.nodes[i].is == up || s.nodes[i].is == leaving }

// joined reports whether two running nodes receive each other's messages.
func (s *state) joined(i, j int) bool {
	return s.answers(i) && s.answers(j) && (i == j || s.nodes[i].hears.has(j) && s.nodes[j].hears.has(i))
}

// talks reports whether two nodes receive each other's messages, and each believes that the other is running.
func (s *state) talks(i, j int) bool {
	return s.joined(i, j) && s.nodes[i].sees.has(j) && s.nodes[j].sees.has(i)
}

// part returns the nodes that node i exchanges messages with, including itself: its part of a divided cluster.
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

// together reports whether node i can change a record in Mnesia: all nodes that it believes to be running must answer.
func (m *Model) together(s *state, i int) bool { return s.nodes[i].sees.minus(m.part(s, i)) == 0 }
