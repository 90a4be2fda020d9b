package consul

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/consul/server"
)

// cluster has the clients' machines and the Consul server. The lock's key names the sessions of all holders, so clients
// are not independent.
type cluster struct {
	sim.Plain
	protocols []consul.Protocol // indexed by lock
	keys      []string          // indexed by lock: the key that names the holders
	reads     []consul.Request  // indexed by lock: a read of all keys under the lock's prefix
	limits    bool              // acquires state their own limits
	scenario  *scenario.Scenario
	owner     func(backend.Session) uint8
	server    server.Server
	clients   []client
	sessions  []session // index: the session's number minus 1
	slots     []permit  // slots of the sessions that the locks' keys name as holders
	expired   []backend.Session
	ended     []string // scratch
	bodies    [lock.MaxLocks]body
	last      exchange // request and reply that Describe describes
	kept      kept
}

var _ sim.Keeping = (*cluster)(nil)

// kept is the copy of the state that [cluster.Keep] makes.
type kept struct {
	server   server.Server
	clients  []client
	sessions []session
	slots    []permit
	expired  []backend.Session
}

// client has the machine of one client, and the client's last request.
type client struct {
	machine consul.Machine
	sent    exchange
	left    int64 // milliseconds for which the client's blocking query still waits
}

// session says whether a session exists, and its name in Consul (id).
type session struct {
	alive bool
	id    string
}

// permit is the slot number of a session (id) that is a holder of a lock.
type permit struct {
	lock uint8
	id   string
	slot uint8
}

type exchange struct {
	request consul.Request
	reply   consul.Reply
}

// Reset implements [sim.Cluster]: it begins a scenario with empty servers and idle clients.
func (k *cluster) Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8) {
	k.scenario, k.owner, k.protocols, k.limits = s, owner, k.protocols[:0], t.Traits.Has(lock.Limits)
	k.keys, k.reads = k.keys[:0], k.reads[:0]
	for _, l := range s.Locks {
		k.protocols = append(k.protocols, consul.Protocol{Options: consul.Table.Of(o), Prefix: "service/" + l.Name, Limit: int(l.Slots)})
	}
	for i := range k.protocols {
		k.keys, k.reads = append(k.keys, k.protocols[i].Lock()), append(k.reads, k.protocols[i].Read())
	}
	k.clients = append(k.clients[:0], make([]client, len(s.Clients))...)
	k.clear()
}

func (k *cluster) clear() {
	k.server.Reset()
	k.sessions, k.slots, k.expired = k.sessions[:0], k.slots[:0], k.expired[:0]
}

// SetUp implements [sim.Cluster]. It does nothing, since the first holder creates the lock's key.
func (k *cluster) SetUp(func(backend.Exchange)) {}

func (k *cluster) machine(c uint8) *consul.Machine { return &k.clients[c-1].machine }

func (k *cluster) lockOf(c uint8) uint8 { return uint8(k.scenario.Clients[c-1].Lock) }

func (k *cluster) protocol(c uint8) *consul.Protocol { return &k.protocols[k.lockOf(c)] }

// Start implements [sim.Cluster]: it begins an operation on client c's machine.
func (k *cluster) Start(c uint8, op lock.Op, arg uint8) {
	slot := k.slot(c)
	if op == lock.Acquire && k.limits {
		k.machine(c).Stated = arg
	}
	k.protocol(c).Start(k.machine(c), op)
	k.machine(c).Result.Slot = slot
}

// Op implements [sim.Cluster]: it returns client c's current or last operation.
func (k *cluster) Op(c uint8) lock.Op { return k.machine(c).Op }

// Result implements [sim.Cluster]: it returns the result of client c's operation, and whether the operation has ended.
func (k *cluster) Result(c uint8) (lock.Result, bool) {
	m := k.machine(c)
	return m.Result, m.Result.Outcome != lock.Pending
}

// Held implements [sim.Cluster]: it returns the slot that client c believes it holds; 0 means none.
func (k *cluster) Held(c uint8) uint8 { return k.machine(c).Slot }

// Linked implements [sim.Cluster]: a client has a session until it learns that the session has ended.
func (k *cluster) Linked(c uint8) bool { return k.machine(c).Session != "" }

// Answered implements [sim.Cluster]: it reports whether the reply to client c's waiting command is ready.
func (k *cluster) Answered(c uint8) bool { return k.waits(c) }

func (k *cluster) waits(c uint8) bool { return k.clients[c-1].sent.reply.Waits }

// Opens implements [sim.Cluster]: it reports whether client c's next command opens a session.
func (k *cluster) Opens(c uint8) bool { return k.machine(c).Phase == consul.Opening }

// Deliver implements [sim.Cluster]: it sends the next command of client c's operation on a session.
func (k *cluster) Deliver(c uint8, on backend.Session) backend.Exchange {
	cl := &k.clients[c-1]
	m := &cl.machine
	name := ""
	if m.Phase == consul.Opening {
		name = k.name(c)
		k.sessions[on-1].id = name
	}
	cl.sent.request = k.protocol(c).Next(m, name)
	cl.sent.reply = k.server.Apply(&cl.sent.request)
	if cl.sent.reply.Waits {
		cl.left = int64(k.protocol(c).Wait)
	}
	k.last = cl.sent
	l := k.lockOf(c)
	slot := k.slotOf(l, m.Session)
	k.assignSlots(l)
	slot = max(slot, k.slotOf(l, m.Session))
	if slot == 0 && (m.Phase == consul.Claiming || m.Phase == consul.Removing && cl.sent.reply.OK) {
		slot = k.lowest(l) // the slot that the client tried to get, or takes from a holder without check-and-set
	}
	return k.exchange(c, slot, &cl.sent)
}

// name returns a name for client c's next session that no client or server uses.
func (k *cluster) name(c uint8) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("c%d-%d", c, n)
		known := k.server.Mentions(name)
		for i := range k.clients {
			known = known || k.clients[i].machine.Knows(name)
		}
		if !known {
			return name
		}
	}
}

// exchange describes a request and its reply. slot is the slot that the client gets by the request, or had before it; 0
// means none.
func (k *cluster) exchange(c, slot uint8, s *exchange) backend.Exchange {
	l := k.lockOf(c)
	x := backend.Exchange{
		Method: uint8(s.request.Method), Role: backend.Holder, Lock: l, Slot: slot, Known: slot > 0, RoundTrip: true, Waits: true,
		Minimal: true, Key: uint16(l) + 1,
	}
	ours := s.request.Key == k.keys[l]
	switch s.request.Method {
	case consul.CreateSession:
		x.Access, x.Known = backend.OpenSession, false
	case consul.DestroySession:
		x.Access, x.Ended = backend.CloseSession, true
	case consul.Get:
		x.Access = backend.Read
	case consul.Delete:
		x.Access = backend.Delete
	case consul.Put:
		x.Access = backend.Create
		if p := k.machine(c).Phase; ours && p == consul.Removing {
			x.Access = backend.Delete
		} else if !ours {
			x.Access = backend.Opaque
		}
	}
	switch {
	case s.reply.Waits:
		x.Result = backend.Blocked
	case s.reply.Status == 404:
		x.Result = backend.Absent
	case s.reply.Status != 200:
		x.Result = backend.Denied
	case s.request.Method == consul.Put && !s.reply.OK:
		x.Result = backend.Refused
	}
	return x
}

// Reply implements [sim.Cluster]: it gives client c the reply to its last command.
func (k *cluster) Reply(c uint8) {
	cl := &k.clients[c-1]
	if k.waits(c) { // the blocking query returns: something has changed, or it has waited long enough
		cl.sent.request.Index = 0
		cl.sent.reply, cl.left = k.server.Apply(&cl.sent.request), 0
	}
	k.protocol(c).Apply(&cl.machine, &cl.sent.request, &cl.sent.reply)
	k.told(c)
}

// told stores in a client's machine the slot number that the client believes it holds; 0 means none.
func (k *cluster) told(c uint8) {
	m := k.machine(c)
	if !m.Held {
		m.Slot = 0
		return
	}
	if m.Slot == 0 {
		l := k.lockOf(c)
		if m.Slot = k.slotOf(l, m.Session); m.Slot == 0 { // the client wrongly believes that it is a holder
			if m.Slot = k.lowest(l); int(m.Slot) > k.protocols[l].Limit {
				m.Slot = 1 // all slots are held, so slot 1 is another client's
			}
		}
	}
	if m.Phase == consul.Idle {
		m.Result.Slot = m.Slot
	}
}

// Lose implements [sim.Cluster]: client c loses the reply to its last command, and sees its session as broken.
func (k *cluster) Lose(c uint8) {
	k.machine(c).Lose()
	k.clients[c-1].sent, k.clients[c-1].left = exchange{}, 0
}

// Connect implements [sim.Cluster]: it opens a session and returns its number.
func (k *cluster) Connect() backend.Session {
	i := slices.IndexFunc(k.sessions, func(s session) bool { return !s.alive })
	if i < 0 {
		i = len(k.sessions)
		k.sessions = append(k.sessions, session{})
	}
	k.sessions[i] = session{alive: true}
	return backend.Session(i + 1)
}

// End implements [sim.Cluster]: the server ends a session.
func (k *cluster) End(on backend.Session) {
	s := &k.sessions[on-1]
	k.server.End(s.id)
	*s = session{}
}

// Restart implements [sim.Cluster]. Sessions survive a restart.
func (k *cluster) Restart() { k.server.Restart() }

// Advance implements [sim.Cluster]. It stops when a session expires, or when a client's blocking query times out.
func (k *cluster) Advance(ms int64) (passed int64, changed bool) {
	if next, due := k.NextTimer(); due {
		ms = min(ms, max(1, next))
	}
	k.ended = k.server.Advance(ms, k.ended[:0])
	for _, id := range k.ended {
		if i := slices.IndexFunc(k.sessions, func(s session) bool { return s.alive && s.id == id }); i >= 0 {
			k.expired = append(k.expired, backend.Session(i+1))
		}
	}
	for i := range k.clients {
		if cl := &k.clients[i]; cl.left > 0 {
			cl.left = max(0, cl.left-ms)
			changed = changed || cl.left == 0
		}
	}
	return ms, changed || len(k.ended) > 0
}

// Expired implements [sim.Cluster]: it appends the sessions that have expired since the last call.
func (k *cluster) Expired(buf []backend.Session) []backend.Session {
	buf = append(buf, k.expired...)
	k.expired = k.expired[:0]
	return buf
}

// NextTimer implements [sim.Cluster]: it returns the milliseconds until Advance next changes something.
func (k *cluster) NextTimer() (next int64, any bool) {
	next, any = k.server.NextEnd()
	for i := range k.clients {
		if left := k.clients[i].left; left > 0 && (!any || left < next) {
			next, any = left, true
		}
	}
	return next, any
}

// Phase names the current activity of client c's machine.
func (k *cluster) Phase(c uint8) string { return k.machine(c).Phase.String() }
