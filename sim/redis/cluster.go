package redis

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/redis/server"
)

// hello is the number of the command that opens a connection. It follows those of the commands in model/redis.
const hello = uint8(redis.Look) + 1

// cluster has the clients' machines, the servers, and the messages between clients. A session is a client's connection
// to all servers; holds outlive it. Clients are not independent, since time passes, and messages name their senders.
type cluster struct {
	sim.Plain
	redis.Protocol
	target   *lock.Target
	scenario *scenario.Scenario
	owner    func(backend.Session) uint8
	clocks   *sim.Clocks
	now      int64
	servers  []server.Server
	clients  []client
	messages []redis.Message // messages that were sent and not received, in a fixed order
	sessions []bool          // whether session i+1 exists
	heard    [2]string       // the last received message, and what its receiver did
	last     redis.Sent
	kept     kept
}

// kept is the copy of the state that [cluster.Keep] makes.
type kept struct {
	now      int64
	servers  []server.Server
	clients  []client
	messages []redis.Message
	sessions []bool
}

// client has the machine of one client, and what the servers have granted to the client.
type client struct {
	machine redis.Machine
	linked  bool
	sent    redis.Sent
	began   int64 // start of the client's operation, in milliseconds of the servers' clock
	grant   grant
}

// grant is a client's hold. It lasts until the client stops or its lease ends.
type grant struct {
	id       redis.ID
	priority uint8
	until    int64 // end of the lease, in milliseconds of the servers' clock
	released bool  // the client has begun to release it
}

var (
	_ sim.Clocked = (*cluster)(nil)
	_ sim.Keeping = (*cluster)(nil)
)

// Clocks implements [sim.Clocked]: it stores the clients' clocks.
func (k *cluster) Clocks(c *sim.Clocks) { k.clocks = c }

// Reset implements [sim.Cluster]: it begins a scenario with empty servers and idle clients.
func (k *cluster) Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8) {
	k.target, k.scenario, k.owner = t, s, owner
	k.Options = redis.Table.Of(o)
	k.clients = append(k.clients[:0], make([]client, len(s.Clients))...)
	k.servers = append(k.servers[:0], make([]server.Server, k.Servers)...)
	k.messages, k.sessions, k.now = k.messages[:0], k.sessions[:0], 0
}

// SetUp implements [sim.Cluster]. It does nothing, since a free lock has no keys.
func (k *cluster) SetUp(func(backend.Exchange)) {}

func (k *cluster) machine(c uint8) *redis.Machine { return &k.clients[c-1].machine }

// clock returns the time of client c's own clock.
func (k *cluster) clock(c uint8) int64 { return k.clocks.Now(c) }

// Start implements [sim.Cluster]: it begins an operation on client c's machine.
func (k *cluster) Start(c uint8, op lock.Op, arg uint8) {
	cl := &k.clients[c-1]
	cl.began = k.now
	k.Protocol.Start(&cl.machine, c, op, arg, k.clock(c))
	if op == lock.Connect {
		cl.machine.Result.Outcome = lock.Pending
	}
}

// Op implements [sim.Cluster]: it returns client c's current or last operation.
func (k *cluster) Op(c uint8) lock.Op { return k.machine(c).Op }

// Result implements [sim.Cluster]: it returns the result of client c's operation, and whether the operation has ended.
func (k *cluster) Result(c uint8) (lock.Result, bool) {
	r := k.machine(c).Result
	return r, r.Outcome != lock.Pending
}

// Held implements [sim.Cluster]: it returns the slot that client c believes it holds; 0 means none.
func (k *cluster) Held(c uint8) uint8 {
	if k.machine(c).Held {
		return 1
	}
	return 0
}

// Linked implements [sim.Cluster]: it reports whether client c believes that it has a session.
func (k *cluster) Linked(c uint8) bool { return k.clients[c-1].linked }

// Answered implements [sim.Cluster]: a client that waits for acknowledgements continues without a command.
func (k *cluster) Answered(c uint8) bool { return k.machine(c).Phase == redis.Waiting }

// Opens implements [sim.Cluster]: it reports whether client c's next command opens a session.
func (k *cluster) Opens(c uint8) bool { return !k.clients[c-1].linked }

// Deliver implements [sim.Cluster]: it sends the next command of client c's operation on a session.
func (k *cluster) Deliver(c uint8, on backend.Session) backend.Exchange {
	cl := &k.clients[c-1]
	s := &cl.sent
	if *s = (redis.Sent{Opens: !cl.linked}); !s.Opens {
		s.Server, s.Command = k.Next(&cl.machine, uint8(k.scenario.Clients[c-1].Lock))
		if on != 0 { // if the connection is lost, the command does not reach the server
			s.Reply = k.servers[s.Server].Apply(s.Command)
		}
		k.granted(c)
	}
	k.last = *s
	return k.exchange(c, s, on)
}

// exchange describes a command of client c and its reply.
func (k *cluster) exchange(c uint8, s *redis.Sent, on backend.Session) backend.Exchange {
	x := backend.Exchange{Method: hello, Access: backend.OpenSession, RoundTrip: true, Waits: true, Minimal: true}
	if s.Opens {
		return x
	}
	l := s.Command.Key.Lock
	x = backend.Exchange{
		Method: uint8(s.Command.Method), Answer: uint8(s.Reply.Class), Access: access[s.Command.Method], Role: backend.Mutex,
		Lock: l, Slot: 1, Known: true, RoundTrip: true, Waits: true, Minimal: true, Key: uint16(l)*5 + uint16(s.Server) + 1,
	}
	switch {
	case on == 0:
		x.Result, x.Ended = backend.Ended, true
	case s.Reply.Class == redis.No && x.Access == backend.Delete:
		x.Result = backend.Absent
	case s.Reply.Class == redis.No:
		x.Result = backend.Refused
	case s.Reply.Class == redis.Nil:
		x.Result = backend.Absent
	}
	return x
}

// access has the kind of access of each method that the lock uses. Extending a lease counts as a new claim.
var access = [...]backend.Access{
	redis.Get: backend.Read, redis.Look: backend.Read, redis.Del: backend.Delete,
	redis.Steal: backend.Create, redis.Claiming: backend.Create, redis.Extend: backend.Create, redis.Prolong: backend.Create,
	redis.Release: backend.Delete, redis.Unclaim: backend.Delete,
}

// Reply implements [sim.Cluster]: it gives client c the reply to its last command.
func (k *cluster) Reply(c uint8) {
	cl := &k.clients[c-1]
	switch {
	case cl.machine.Phase == redis.Waiting:
		k.Settle(&cl.machine, k.clock(c))
		if cl.machine.Held {
			k.grant(c)
		}
	case cl.sent.Opens:
		cl.linked = true
		if cl.machine.Op == lock.Connect {
			cl.machine.Result.Outcome = lock.Done
		}
	default:
		k.Apply(&cl.machine, cl.sent.Reply, k.clock(c))
		cl.linked = cl.linked && cl.sent.Reply.Class != redis.None
		k.settle(c)
	}
	k.post(c)
}

// Lose implements [sim.Cluster]. The client's connections to other servers stay.
func (k *cluster) Lose(c uint8) {
	cl := &k.clients[c-1]
	if cl.machine.Phase == redis.Waiting { // a waiting client has sent no command whose reply could be lost
		k.Reply(c)
		return
	}
	k.Apply(&cl.machine, redis.Reply{}, k.clock(c))
	if cl.machine.Held && cl.machine.Op == lock.Acquire {
		k.grant(c)
	}
	k.settle(c)
	k.post(c)
}

// Connect implements [sim.Cluster]: it opens a session and returns its number.
func (k *cluster) Connect() backend.Session {
	for i, there := range k.sessions {
		if !there {
			k.sessions[i] = true
			return backend.Session(i + 1)
		}
	}
	k.sessions = append(k.sessions, true)
	return backend.Session(len(k.sessions))
}

// End implements [sim.Cluster]: the server ends a session.
func (k *cluster) End(on backend.Session) { k.sessions[on-1] = false }

// Restart implements [sim.Cluster]: it stops the servers and starts them again.
func (k *cluster) Restart() {
	clear(k.sessions)
	for i := range k.servers {
		k.servers[i].Restart(k.Persistent)
	}
}

// Advance implements [sim.Cluster]. It stops when a key expires, or when a client stops because of its own clock.
func (k *cluster) Advance(ms int64) (passed int64, changed bool) {
	if next, due := k.NextTimer(); due {
		ms = min(ms, max(1, next))
	}
	k.now += ms
	for i := range k.servers {
		changed = k.servers[i].Advance(ms) || changed
	}
	for i := range k.clients {
		cl := &k.clients[i]
		if g := &cl.grant; g.id != 0 && g.until <= k.now {
			*g, changed = grant{}, true
		}
		if cl.machine.Held && k.clocks.In(uint8(i+1), cl.machine.Until) <= ms {
			cl.machine.Stop()
			k.settle(uint8(i + 1))
			changed = true
		}
	}
	return ms, changed
}

// Expired implements [sim.Cluster]: no session expires, since connections have no lease.
func (k *cluster) Expired(buf []backend.Session) []backend.Session { return buf }

// NextTimer implements [sim.Cluster]: it returns the milliseconds until Advance next changes something.
func (k *cluster) NextTimer() (next int64, any bool) {
	sooner := func(in int64) {
		if !any || in < next {
			next, any = in, true
		}
	}
	for i := range k.servers {
		if in, due := k.servers[i].NextExpiry(); due {
			sooner(in)
		}
	}
	for i := range k.clients {
		if g := &k.clients[i].grant; g.id != 0 {
			sooner(g.until - k.now)
		}
		if at, due := k.clients[i].machine.Due(); due {
			if in := k.clocks.In(uint8(i+1), at); in > 0 {
				sooner(in)
			}
		}
	}
	return next, any
}

// Phase names the current activity of client c's machine.
func (k *cluster) Phase(c uint8) string { return k.machine(c).Phase.String() }
