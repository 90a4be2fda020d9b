package cluster

// grants makes client c try to take the lock at its node, and reports whether it has got the lock.
func (m *Model) grants(s *state, c int) bool {
	at := m.place(c)
	if s.nodes[at].is != up {
		return false
	}
	if m.Design.kind == exclusive {
		if !m.declares(s, at, c) {
			return false
		}
	} else if !m.fetches(s, at, c) {
		return false
	}
	s.clients[c] = client{connected: true, holds: true}
	return true
}

// declares makes client c declare the lock's exclusive queue at its node. It returns false if the node knows of such a
// queue.
func (m *Model) declares(s *state, at, c int) bool {
	part := m.part(s, at)
	if s.nodes[at].owner != nobody || !m.decides(s, at, part) {
		return false
	}
	m.record(s, part, int8(c), int8(at))
	return true
}

// decides reports whether a node's part of the cluster can change a record now: with Khepri if it is a majority, with
// Mnesia if all nodes answer.
func (m *Model) decides(s *state, at int, part set) bool {
	if m.Khepri {
		return m.majority(part)
	}
	return m.together(s, at)
}

// record makes all nodes of a part store two facts about the exclusive queue: the client that owns it (owner), and the
// node that it is on (host).
func (m *Model) record(s *state, part set, owner, host int8) {
	for k := range m.Nodes {
		if part.has(k) {
			s.nodes[k].owner, s.nodes[k].host = owner, host
		}
	}
}

// fetches makes client c get the message of the lock's queue. It returns false if the message is not ready.
func (m *Model) fetches(s *state, at, c int) bool {
	host := s.nodes[at].master
	if !s.talks(at, int(host)) || s.nodes[host].token != nobody || !m.leadsQueue(s, int(host)) {
		return false
	}
	s.nodes[host].token = int8(c)
	return true
}

// leadsQueue reports whether the queue's process, which is on the given node, can change the queue. The process of a
// quorum queue is its leader, which needs a majority of followers.
func (m *Model) leadsQueue(s *state, at int) bool {
	if m.Design.kind != quorum {
		return true
	}
	var followers set
	for k := range m.Nodes {
		if int(s.nodes[k].master) == at && s.talks(at, k) {
			followers = followers.with(k)
		}
	}
	return m.majority(followers)
}

// told ends client c's hold, since the broker has told the client of the loss. The connection stays open.
func (s *state) told(c int) { s.clients[c].holds = false }

// closes ends client c's connection. Its hold ends on all nodes that messages of its node reach.
func (m *Model) closes(s *state, c int) {
	s.clients[c] = client{}
	at := m.place(c)
	if m.Design.kind == exclusive {
		if n := &s.nodes[at]; int(n.owner) == c && int(n.host) == at {
			m.deletes(s, at)
		}
		return
	}
	m.giveBack(s, c)
}

// giveBack makes the message of a disconnected client ready again, if the queue's process learns of the disconnection.
func (m *Model) giveBack(s *state, c int) {
	at := m.place(c)
	host := int(s.nodes[at].master)
	if s.talks(at, host) && int(s.nodes[host].token) == c && m.leadsQueue(s, host) {
		s.nodes[host].token = nobody
	}
}

// deletes makes a node delete the exclusive queue that its record names. With Khepri, a node in a minority only
// proposes the deletion.
func (m *Model) deletes(s *state, at int) {
	part, gone := m.part(s, at), s.nodes[at]
	if m.Khepri && !m.majority(part) {
		s.pending = gone.owner
		return
	}
	for k := range m.Nodes {
		if n := &s.nodes[k]; part.has(k) && n.owner == gone.owner && n.host == gone.host {
			n.owner, n.host = nobody, nobody
		}
	}
}

// misses changes the queue when one node (at) notices that another node (gone) is gone.
func (m *Model) misses(s *state, at, gone int) {
	n := &s.nodes[at]
	if m.Design.kind == exclusive {
		if int(n.host) == gone {
			m.deletes(s, at)
		}
		return
	}
	if m.Design.kind == mirrored && int(n.master) == gone {
		m.leads(s, at, nobody)
	}
	if int(n.master) == at && n.token != nobody && m.place(int(n.token)) == gone && m.leadsQueue(s, at) {
		n.token = nobody
	}
	for c := range s.clients {
		if m.Design.consumes && m.place(c) == at && int(n.master) == gone {
			s.told(c)
		}
	}
}

// leads moves the queue's process to a node (at), in the view of the nodes of its part of the cluster. token is the
// client that has the message, or nobody if the message is ready.
func (m *Model) leads(s *state, at int, token int8) {
	part := m.part(s, at)
	for k := range m.Nodes {
		if part.has(k) {
			s.nodes[k].master = int8(at)
		}
	}
	s.nodes[at].token = token
}

// mayLead reports whether a node can be elected leader of a quorum queue. It needs the votes of a majority, and its
// voters must believe that the old leader is gone.
func (m *Model) mayLead(s *state, at int) bool {
	n := &s.nodes[at]
	if m.Design.kind != quorum || n.is != up || n.sees.has(int(n.master)) {
		return false
	}
	var voters set
	for k := range m.Nodes {
		if s.talks(at, k) && !s.nodes[k].sees.has(int(n.master)) {
			voters = voters.with(k)
		}
	}
	return m.majority(voters)
}

// elects makes a node the leader of a quorum queue. If the client with the message is on a node outside the new
// leader's part, the message becomes ready again.
func (m *Model) elects(s *state, at int) {
	token := s.nodes[s.nodes[at].master].token
	if token != nobody && !m.part(s, at).has(m.place(int(token))) {
		token = nobody
	}
	m.leads(s, at, token)
}

// restarts changes the queue when its node rejoins the cluster. The message of a classic queue becomes ready again, and
// an exclusive queue on the node is deleted.
func (m *Model) restarts(s *state, at int) {
	n := &s.nodes[at]
	switch m.Design.kind {
	case exclusive:
		if int(n.host) == at {
			m.deletes(s, at)
		}
	case classic, mirrored:
		if int(n.master) == at {
			n.token = nobody
		}
	}
}
