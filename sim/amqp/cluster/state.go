package cluster

import "math/bits"

// condition is the condition of a node.
type condition uint8

const (
	up      condition = iota
	leaving           // it refuses clients, closes their connections one after the other, and then waits or is off
	waiting           // it has left by itself, and comes back when it reaches others
	off               // it is down until it is started
	frozen            // it is paused
)

// set is a set of nodes, counted from 0 here.
type set uint8

func (s set) has(i int) bool      { return s&(1<<i) != 0 }
func (s set) with(i int) set      { return s | 1<<i }
func (s set) without(i int) set   { return s &^ (1 << i) }
func (s set) count() int          { return bits.OnesCount8(uint8(s)) }
func only(i int) set              { return 1 << i }
func all(nodes int) set           { return 1<<nodes - 1 }
func (s set) minus(other set) set { return s &^ other }

// nobody means no client or no node where a number of one is expected.
const nobody = -1

// node is one node.
type node struct {
	is    condition
	ends  bool // it was told to shut down: after leaving, it is off
	wary  bool // it was paused by a fault, and will no longer leave because of a minority
	hears set  // the nodes whose messages reach it
	sees  set  // the nodes that it believes are running, including itself
	owes  set  // nodes that are or were gone, which it has still to notice
	// owner and host are its record of the exclusive queue: the owning client, and the node of the queue.
	owner, host int8
	// master is the node where it believes the queue's process to be. token, if the process is on this node, is the
	// client that has the message, nobody if the message is ready.
	master, token int8
}

// client is one of the two clients.
type client struct {
	connected, holds bool
}

// state is a state of the cluster. It is comparable: equal states have the same continuations.
type state struct {
	nodes   [MostModelled]node
	clients [2]client
	next    int8 // index of the next fault
	// pending is the owner of an exclusive queue whose deletion a minority has proposed to Khepri.
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

// joined reports whether messages arrive in both directions between two running nodes.
func (s *state) joined(i, j int) bool {
	return s.answers(i) && s.answers(j) && (i == j || s.nodes[i].hears.has(j) && s.nodes[j].hears.has(i))
}

// talks reports whether two nodes run and believe each other to be running.
func (s *state) talks(i, j int) bool {
	return s.joined(i, j) && s.nodes[i].sees.has(j) && s.nodes[j].sees.has(i)
}

// part are the nodes that a node talks to, including itself.
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

// together reports whether a node can change a record: all nodes that it believes are running must answer.
func (m *Model) together(s *state, i int) bool { return s.nodes[i].sees.minus(m.part(s, i)) == 0 }
