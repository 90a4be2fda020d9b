package consul

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/scenario"
)

// These are the links of a client beside its operation.
const (
	watching = iota + 1 // a holder's blocking query returns, since something under the lock's prefix has changed
	renewing            // half of the session's TTL has passed
)

// Links implements [sim.Cluster]: it returns the set of links on which client c can take a step.
func (k *cluster) Links(c uint8) (set uint8) {
	cl, p := &k.clients[c-1], k.protocol(c)
	m, prefix := &cl.machine, k.reads[k.lockOf(c)].Key
	if !k.waits(c) || cl.left == 0 || k.server.Index(prefix) > cl.sent.request.Index {
		set = 1
	}
	if p.Options.Watch && m.Held && m.Phase == consul.Idle && k.server.Index(prefix) > m.Watched {
		set |= 1 << watching
	}
	if left := k.server.Left(m.Session); left > 0 && left <= int64(p.TTL) {
		set |= 1 << renewing
	}
	return set
}

// Act implements [sim.Cluster]: it takes a step of client c beside its operation.
func (k *cluster) Act(c, link uint8, _ backend.Session) backend.Exchange {
	m, p := k.machine(c), k.protocol(c)
	k.last = exchange{request: consul.Request{Method: consul.RenewSession, Session: consul.Session{ID: m.Session}}}
	if link == watching {
		k.last.request = k.reads[k.lockOf(c)]
	}
	k.last.reply = k.server.Apply(&k.last.request)
	x := k.exchange(c, 0, &k.last)
	if link == watching {
		p.Notice(m, &k.last.reply)
		k.told(c)
	}
	return x
}

// Describe implements [sim.Cluster]: it adds the last command and its reply to a step of a trace.
func (k *cluster) Describe(step *scenario.TraceStep) {
	step.Command, step.Reply = k.last.request.Words(), k.last.reply.Words(k.last.request.Method)
	sent := consul.Sent{Request: k.last.request, Reply: k.last.reply, Alive: k.server.Sessions()}
	if e := k.server.Entry(sent.Request.Key); e != nil {
		sent.Modified = e.Modified
	}
	step.Resource, step.Payload = k.scenario.Locks[step.Exchange.Lock].Name, sent
}
