package cluster

// notices makes one node (at) notice that another node (gone) is gone, or was gone for a while.
func (m *Model) notices(s *state, at, gone int) {
	n := &s.nodes[at]
	n.owes = n.owes.without(gone)
	if back := s.talks(at, gone) && s.nodes[gone].is == up && !s.nodes[gone].owes.has(at); !back {
		n.sees = n.sees.without(gone)
		s.parts(gone, at) // the other node has to notice the closed connection between them
	}
	m.misses(s, at, gone)
}

// mayPause reports whether a node stops itself now because it sees only a minority (pause_minority).
func (m *Model) mayPause(s *state, at int) bool {
	n := &s.nodes[at]
	return m.Mode == PauseMinority && !m.Khepri && n.is == up && !n.wary && !m.majority(n.sees)
}

// closesOne returns a client whose connection a stopping node still has to close, or nobody.
func (m *Model) closesOne(s *state, at int) int {
	for c := range s.clients {
		if s.nodes[at].is == leaving && m.place(c) == at && s.clients[c].connected {
			return c
		}
	}
	return nobody
}

// leaves stops a node that has closed all its connections. The node announces this, so that the nodes of its part
// notice at once.
func (m *Model) leaves(s *state, at int) {
	part := m.part(s, at).without(at)
	m.gone(s, at)
	n := &s.nodes[at]
	n.is = waiting
	if n.ends {
		n.is, n.ends = off, false
	}
	for i := range m.Nodes {
		if part.has(i) {
			m.notices(s, i, at)
		}
	}
}

// anchor returns a running node through which a stopped node (at) can rejoin the cluster, or nobody. All nodes of the
// running node's part must have noticed that the stopped node had stopped. With pause_minority, that part and the
// stopped node together must be a majority.
func (m *Model) anchor(s *state, at int) int {
	if s.nodes[at].is != waiting {
		return nobody
	}
	for j := range m.Nodes {
		if s.nodes[j].is != up || !s.nodes[at].hears.has(j) || !s.nodes[j].hears.has(at) {
			continue
		}
		part, noticed := m.part(s, j), true
		for k := range m.Nodes {
			noticed = noticed && !(part.has(k) && s.nodes[k].owes.has(at))
		}
		if noticed && (m.Mode != PauseMinority || m.majority(part.with(at))) {
			return j
		}
	}
	return nobody
}

// comesBack makes a stopped node (at) rejoin the cluster. If there is a running node, the stopped one takes over its
// records.
func (m *Model) comesBack(s *state, at int) {
	n := &s.nodes[at]
	n.is, n.wary, n.owes, n.sees = up, false, 0, only(at)
	for j := range m.Nodes {
		if j == at || s.nodes[j].is != up || !n.hears.has(j) || !s.nodes[j].hears.has(at) {
			continue
		}
		n.owner, n.host, n.master = s.nodes[j].owner, s.nodes[j].host, s.nodes[j].master
		part := m.part(s, j)
		for k := range m.Nodes {
			if part.has(k) {
				n.sees = n.sees.with(k)
				s.nodes[k].sees = s.nodes[k].sees.with(at)
			}
		}
		break
	}
	m.restarts(s, at)
}

// divided reports whether some nodes receive each other's messages but believe each other to be gone, while no node has
// anything left to notice. Autoheal then chooses a winner.
func (m *Model) divided(s *state) (yes bool) {
	for i := range m.Nodes {
		n := &s.nodes[i]
		if n.is == leaving || n.is == waiting || n.owes != 0 {
			return false
		}
		for j := range m.Nodes {
			yes = yes || s.joined(i, j) && !s.talks(i, j)
		}
	}
	return yes
}

// autoheals makes all nodes stop that are not in the winner's part.
func (m *Model) autoheals(s *state, winner int) {
	part := m.part(s, winner)
	for i := range m.Nodes {
		if !part.has(i) && s.nodes[i].is == up {
			s.nodes[i].is = leaving
		}
	}
}

// mayReunite reports whether two nodes can believe each other to be running again, without a restart, as they do with
// Khepri.
func (m *Model) mayReunite(s *state, i, j int) bool {
	return m.Khepri && i < j && s.joined(i, j) && !s.talks(i, j) && !s.nodes[i].owes.has(j) && !s.nodes[j].owes.has(i)
}

// reunites makes two nodes believe each other to be running again. The node in the smaller part takes over the other's
// records.
func (m *Model) reunites(s *state, i, j int) {
	if m.part(s, i).count() < m.part(s, j).count() {
		i, j = j, i
	}
	a, b := &s.nodes[i], &s.nodes[j]
	b.owner, b.host = a.owner, a.host
	a.sees, b.sees = a.sees.with(j), b.sees.with(i)
}

// mayCommit reports whether a majority can now commit the deletion that a minority has proposed to Khepri.
func (m *Model) mayCommit(s *state) bool {
	return s.pending != nobody && m.majority(m.part(s, m.place(1-int(s.pending)))) && m.majority(m.part(s, m.place(int(s.pending))))
}

// commits deletes the exclusive queue whose deletion a minority has proposed to Khepri.
func (m *Model) commits(s *state) {
	for i := range m.Nodes {
		if n := &s.nodes[i]; n.owner == s.pending {
			n.owner, n.host = nobody, nobody
		}
	}
	s.pending = nobody
}
