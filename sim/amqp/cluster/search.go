package cluster

import (
	"fmt"
	"slices"
)

// action is the kind of a step of an execution.
type action uint8

const (
	acquires action = iota
	befalls
	notice
	election
	pause
	closing
	leave
	returns
	winner
	reunion
	commit
)

// step is one step of an execution. at is the node or the client that takes it. Some kinds of steps concern a second
// node or client, which is other.
type step struct {
	what      action
	at, other int8
}

// Result is the result of [Model.Explore].
type Result struct {
	// Steps has the shortest execution after which both clients hold the lock and neither was told of a loss, one text
	// for each step. It is empty if there is no such execution.
	Steps []string
	// States is the number of states that were visited.
	States int
}

// Explore searches, breadth first, for the shortest execution after which both clients hold the lock.
func (m *Model) Explore() (Result, error) {
	if err := m.check(); err != nil {
		return Result{}, err
	}
	first := m.initial()
	if !m.grants(&first, 0) {
		return Result{}, fmt.Errorf("%s: the first client is not granted the lock", m.Design.Name)
	}
	type link struct {
		from int
		by   step
	}
	states, links, seen := []state{first}, []link{{-1, step{what: acquires}}}, map[state]bool{first: true}
	for i := 0; i < len(states); i++ {
		for _, st := range m.steps(&states[i]) {
			next := states[i]
			m.take(&next, st)
			if seen[next] {
				continue
			}
			seen[next] = true
			states, links = append(states, next), append(links, link{i, st})
			if !next.clients[0].holds || !next.clients[1].holds {
				continue
			}
			var words []string
			for k := len(states) - 1; k >= 0; k = links[k].from {
				before := &first
				if links[k].from >= 0 {
					before = &states[links[k].from]
				}
				words = append(words, m.words(before, links[k].by))
			}
			slices.Reverse(words)
			return Result{words, len(states)}, nil
		}
	}
	return Result{States: len(states)}, nil
}

// steps returns the steps that are possible in state s.
func (m *Model) steps(s *state) (can []step) {
	add := func(may bool, what action, at, other int) {
		if may {
			can = append(can, step{what, int8(at), int8(other)})
		}
	}
	for c := range s.clients {
		try := *s
		add(!s.clients[c].holds && m.grants(&try, c), acquires, c, 0)
	}
	add(m.mayBefall(s), befalls, 0, 0)
	add(m.mayCommit(s), commit, 0, 0)
	for i := range m.Nodes {
		n := &s.nodes[i]
		for j := range m.Nodes {
			add(n.is == up && n.owes.has(j), notice, i, j)
			add(m.mayReunite(s, i, j), reunion, i, j)
		}
		add(m.mayLead(s, i), election, i, 0)
		add(m.mayPause(s, i), pause, i, 0)
		c := m.closesOne(s, i)
		add(c != nobody, closing, i, c)
		add(n.is == leaving && c == nobody, leave, i, 0)
		back := m.anchor(s, i)
		add(back != nobody, returns, i, back)
		add(m.Mode == Autoheal && !m.Khepri && n.is == up && m.divided(s), winner, i, 0)
	}
	return can
}

// take executes a step: it changes s to the next state.
func (m *Model) take(s *state, st step) {
	at, other := int(st.at), int(st.other)
	switch st.what {
	case acquires:
		m.grants(s, at)
	case befalls:
		m.befall(s)
	case notice:
		m.notices(s, at, other)
	case election:
		m.elects(s, at)
	case pause:
		s.nodes[at].is = leaving
	case closing:
		m.closes(s, other)
	case leave:
		m.leaves(s, at)
	case returns:
		m.comesBack(s, at)
	case winner:
		m.autoheals(s, at)
	case reunion:
		m.reunites(s, at, other)
	case commit:
		m.commits(s)
	}
}
