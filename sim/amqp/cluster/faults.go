package cluster

import "github.com/lockproof/lockproof/model/history"

// mayBefall reports whether the next fault is possible now. For example, a node must be off before it is started.
func (m *Model) mayBefall(s *state) bool {
	if int(s.next) == len(m.Faults) {
		return false
	}
	f := &m.Faults[s.next]
	for i := range m.Nodes {
		n := &s.nodes[i]
		switch {
		case !f.Nodes.Has(i + 1):
		case f.F == history.StartNode && n.is != off, f.F == history.ResumeNode && n.is != frozen:
			return false
		case f.F != history.StartNode && f.F != history.ResumeNode && f.F != history.Cut && n.is != up:
			return false
		}
	}
	return true
}

// befall executes the next fault.
func (m *Model) befall(s *state) {
	f := m.Faults[s.next]
	s.next++
	switch f.F {
	case history.Cut:
		m.cut(s, f)
		return
	case history.Heal:
		m.heal(s)
		return
	}
	for i := range m.Nodes {
		if !f.Nodes.Has(i + 1) {
			continue
		}
		n := &s.nodes[i]
		switch f.F {
		case history.KillNode:
			m.gone(s, i)
			n.is = off
			for c := range s.clients {
				if m.place(c) == i {
					s.clients[c] = client{}
				}
			}
		case history.TerminateNode:
			n.is, n.ends = leaving, true
		case history.StartNode:
			m.comesBack(s, i)
		case history.PauseNode:
			m.gone(s, i)
			n.is = frozen
		case history.ResumeNode:
			n.is, n.wary = up, true
		}
	}
}

// cut stops messages from the nodes f.Nodes to the nodes f.To.
func (m *Model) cut(s *state, f Fault) {
	for to := range m.Nodes {
		for from := range m.Nodes {
			if f.To.Has(to+1) && f.Nodes.Has(from+1) {
				s.nodes[to].hears = s.nodes[to].hears.without(from)
				s.parts(from, to)
				s.parts(to, from)
			}
		}
	}
}

// parts records that one node (at) has yet to notice the absence of another node (gone), if it believes that the other
// node is running.
func (s *state) parts(at, gone int) {
	if n := &s.nodes[at]; n.sees.has(gone) {
		n.owes = n.owes.with(gone)
	}
}

// heal lets messages reach all nodes again. Two nodes that have not noticed each other's absence never will. If one of
// them has noticed it, the other will, too.
func (m *Model) heal(s *state) {
	for i := range m.Nodes {
		n := &s.nodes[i]
		n.hears = all(m.Nodes)
		for j := range m.Nodes {
			if n.owes.has(j) && s.answers(j) && s.nodes[j].sees.has(i) && n.sees.has(j) {
				n.owes = n.owes.without(j)
			}
		}
	}
	for c := range s.clients {
		if !s.clients[c].connected && m.Design.kind != exclusive {
			m.giveBack(s, c)
		}
	}
}

// gone records that all other nodes have yet to notice the absence of a node.
func (m *Model) gone(s *state, at int) {
	for i := range m.Nodes {
		if i != at {
			s.parts(i, at)
		}
	}
}
