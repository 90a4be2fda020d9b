package redis

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/redis/server"
)

// The holder of the lock is not simply the client whose entries are on the servers: a thief's entries are there before
// its victims have stopped. A client's hold begins when the servers have agreed and all its victims, if any, have
// acknowledged. It ends when the client stops or its lease is over. A lease is over when the client's own deadline,
// counted from before its first command, has passed, and too few servers have its claim.

// granted records the hold that a client gets by its last command. It does not matter whether the client receives the
// reply.
func (k *cluster) granted(c uint8) {
	cl := &k.clients[c-1]
	after := cl.machine
	k.Apply(&after, cl.sent.Reply, k.clock(c))
	switch cl.machine.Phase {
	case redis.Stealing, redis.Extending:
		if after.Held && after.Phase == redis.Idle && k.Agreed(&after) {
			k.grant(c)
		}
	case redis.Releasing:
		cl.grant.released = cl.grant.id != 0
	}
}

// grant records a client's hold, unless its lease has already ended, as it may if the client's clock was set back.
func (k *cluster) grant(c uint8) {
	cl := &k.clients[c-1]
	m := &cl.machine
	cl.grant = grant{}
	lease, l := k.LeaseOf(m.Priority), uint8(k.scenario.Clients[c-1].Lock)
	until := max(cl.began+lease, k.now+min(lease, k.lasts(l, m.ID)))
	if until > k.now {
		cl.grant = grant{id: m.ID, priority: m.Priority, until: until}
	}
}

// lasts returns for how many milliseconds a majority of the servers will still have the claim of an ID on top.
func (k *cluster) lasts(l uint8, id redis.ID) int64 {
	var left [redis.MaxServers]int64
	for i := range k.servers {
		left[i] = k.servers[i].Lasts(l, id, k.Entry == redis.Claims)
	}
	slices.Sort(left[:k.Servers])
	return left[(k.Servers-1)/2]
}

// settle ends a client's grant if the client has stopped.
func (k *cluster) settle(c uint8) {
	if cl := &k.clients[c-1]; !cl.machine.Held && cl.machine.Phase != redis.Releasing {
		cl.grant = grant{}
	}
}

// Truth implements [sim.Cluster]: it stores the servers' state of lock l in t.
func (k *cluster) Truth(l uint8, t *monitor.Truth) {
	*t = monitor.Truth{Exists: 1 << 1, Barrier: k.barrier(l)}
	var last *grant
	for i := range k.clients {
		g := &k.clients[i].grant
		if g.id != 0 && int(l) == k.scenario.Clients[i].Lock && !k.givenUp(l, g) && (last == nil || k.entries(l, g.id) > k.entries(l, last.id)) {
			last = g
		}
	}
	switch {
	case last != nil && last.until > k.now:
		t.Taken, t.Owner[1], t.Priority[1], t.Until[1] = 1<<1, last.id.Client(), last.priority, int32(last.until)
	case last != nil: // the lease is over; Until must not be set, since 0 would mean that it never ends
	case t.Barrier > 0:
		t.Pending = 1 << 1
	}
}

// givenUp reports whether a client that is releasing the lock has deleted its claim on so many servers that it holds it
// no more.
func (k *cluster) givenUp(l uint8, g *grant) bool {
	return g.released && k.entries(l, g.id) <= k.Servers/2
}

// entries returns the number of servers on which the claim of an ID is on top.
func (k *cluster) entries(l uint8, id redis.ID) (n int) {
	for i := range k.servers {
		if top, there := k.servers[i].Top(l, k.Entry == redis.Claims); there && top.ID == id {
			n++
		}
	}
	return n
}

// barrier returns the highest priority with which an acquire would fail, because too many servers have an entry of that
// priority or a higher one.
func (k *cluster) barrier(l uint8) uint8 {
	var tops [redis.MaxServers]uint8
	for i := range k.servers {
		if top, there := k.servers[i].Top(l, k.Entry == redis.Claims); there {
			tops[i] = top.Priority
		}
	}
	slices.Sort(tops[:k.Servers])
	return tops[k.Servers/2]
}

// Owns implements [sim.Cluster]: no hold ends with a connection.
func (k *cluster) Owns(backend.Session) bool { return false }

// Leftover implements [sim.Cluster]: it reports keys that never expire.
func (k *cluster) Leftover(func(l, s uint8) bool) string {
	for i := range k.servers {
		for key, left := range k.servers[i].Left() {
			if left == 0 {
				return fmt.Sprintf("%s is left on server %d, and never expires", key.Name(k.scenario.Locks[key.Lock].Name), i+1)
			}
		}
	}
	return ""
}

// Resources implements [sim.Cluster]: it returns the servers' resources.
func (k *cluster) Resources() (all []sim.Resource) {
	for i := range k.servers {
		for key, left := range k.servers[i].Left() {
			r := sim.Resource{
				Name: key.Name(k.scenario.Locks[key.Lock].Name), Properties: fmt.Sprintf("server %d, %d ms", i+1, left), Owner: key.ID.Client(),
			}
			if v := k.servers[i].Entry(key.Lock); key.ID == 0 && len(v) > 0 {
				r.Content, r.Owner = len(v), v[0].ID.Client()
			}
			all = append(all, r)
		}
	}
	return all
}

// Clear implements [sim.Cluster]: it resets clients and servers before a state is read.
func (k *cluster) Clear() {
	clear(k.clients)
	k.messages, k.sessions, k.now = k.messages[:0], k.sessions[:0], 0
	for i := range k.servers {
		k.servers[i].Reset()
	}
}

// Keep implements [sim.Keeping]. Assigning a machine copies it completely.
func (k *cluster) Keep() {
	to := &k.kept
	if len(to.servers) != len(k.servers) {
		to.servers = make([]server.Server, len(k.servers))
	}
	for i := range k.servers {
		to.servers[i].CopyFrom(&k.servers[i])
	}
	to.now, to.clients = k.now, append(to.clients[:0], k.clients...)
	to.messages, to.sessions = append(to.messages[:0], k.messages...), append(to.sessions[:0], k.sessions...)
}

// Return implements [sim.Keeping]: it restores the copy that Keep saved last.
func (k *cluster) Return() {
	from := &k.kept
	for i := range k.servers {
		k.servers[i].CopyFrom(&from.servers[i])
	}
	k.now, k.clients = from.now, append(k.clients[:0], from.clients...)
	k.messages, k.sessions = append(k.messages[:0], from.messages...), append(k.sessions[:0], from.sessions...)
}

// CodeShared implements [sim.Cluster]: it writes or reads the servers, the messages, and the grants, which outlive
// their clients.
func (k *cluster) CodeShared(c *codec.Coder) {
	for i := range k.servers {
		k.servers[i].Code(c)
	}
	n := codec.Length(c, len(k.messages))
	if c.Reading() {
		k.messages = append(k.messages[:0], make([]redis.Message, n)...)
	}
	for i := range k.messages {
		k.messages[i].Code(c)
	}
	for i := range k.clients {
		g := &k.clients[i].grant
		codec.Number(c, &g.id)
		if g.id == 0 {
			continue
		}
		left := g.until - k.now
		codec.Byte(c, &g.priority)
		codec.Bool(c, &g.released)
		codec.Number(c, &left)
		g.until = k.now + left
	}
}

// CodeClient implements [sim.Cluster]: it writes or reads client n's machine.
func (k *cluster) CodeClient(c *codec.Coder, n uint8) {
	cl := &k.clients[n-1]
	cl.machine.Code(c, k.clock(n), k.clocks.Back())
	codec.Bool(c, &cl.linked)
	age := k.now - cl.began
	if p := cl.machine.Phase; p == redis.Idle || p >= redis.GivingUp && p != redis.Extending {
		age = 0
	}
	codec.Number(c, &age)
	cl.began = k.now - age
}

// CodeSession implements [sim.Cluster]: it writes or reads a session and its resources.
func (k *cluster) CodeSession(_ *codec.Coder, on backend.Session) {
	for int(on) > len(k.sessions) {
		k.sessions = append(k.sessions, false)
	}
	k.sessions[on-1] = true
}

// CodeOwned implements [sim.Cluster]: it writes what other clients can see of a session.
func (k *cluster) CodeOwned(*codec.Coder, backend.Session) {}

// Normalise implements [sim.Cluster]: it clears what can no longer make a difference in client c's machine.
func (k *cluster) Normalise(c uint8, dead, busy bool, _ backend.Session) {
	cl := &k.clients[c-1]
	switch {
	case dead:
		cl.machine, cl.linked, cl.began = redis.Machine{}, false, 0
		k.messages = slices.DeleteFunc(k.messages, func(msg redis.Message) bool { return msg.To.Client() == c })
	case !busy:
		cl.machine.Normalise()
	}
}
