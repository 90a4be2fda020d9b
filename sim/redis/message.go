package redis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/model/scenario"
)

// These are the links of a client beside its operation. With the first, the client stops working after it has
// acknowledged a theft. With the others it receives the first, second, ... of the messages to it, so messages arrive in
// any order. A message that is not received is late or lost.
const (
	stopping = iota + 1
	taking   // receives the first message; the next links receive later ones
	lastLink = 7
)

// message is the number of the method that stands for a received message.
const message = hello + 1

// Links implements [sim.Cluster]: it returns the set of links on which client c can take a step.
func (k *cluster) Links(c uint8) (set uint8) {
	m := k.machine(c)
	if !m.Blocked(k.clock(c)) {
		set = 1
	}
	if m.Stopping {
		set |= 1 << stopping
	}
	link := taking
	for _, msg := range k.messages {
		if msg.To.Client() == c && link <= lastLink {
			set |= 1 << link
			link++
		}
	}
	return set
}

// Act implements [sim.Cluster]: it takes a step of client c beside its operation.
func (k *cluster) Act(c, link uint8, _ backend.Session) backend.Exchange {
	cl := &k.clients[c-1]
	held := cl.machine.Held
	x := backend.Exchange{
		Method: message, Unasked: true, Role: backend.Mutex, Lock: uint8(k.scenario.Clients[c-1].Lock), Slot: 1, Known: true,
	}
	k.last = redis.Sent{}
	if link == stopping {
		cl.machine.Stop()
		k.settle(c)
		k.heard = [2]string{"", "stops working"}
		return x
	}
	n := int(link) - taking
	i := slices.IndexFunc(k.messages, func(msg redis.Message) bool {
		if msg.To.Client() == c {
			n--
		}
		return n < 0
	})
	msg := k.messages[i]
	k.messages = slices.Delete(k.messages, i, i+1)
	k.Receive(&cl.machine, msg)
	k.settle(c)
	k.heard[0] = words(msg)
	k.heard[1] = ""
	if held && !cl.machine.Held {
		k.heard[1] = "stops working, "
	}
	if k.post(c) && !msg.Ack {
		x.Unasked, x.Waits, x.Access, x.Minimal = false, false, backend.Acknowledge, true
		k.heard[1] += "acknowledges"
	}
	return x
}

// words describes a received message as its receiver understands it.
func words(msg redis.Message) string {
	if msg.Ack {
		return fmt.Sprintf("c%d's message: %s has stopped", msg.From.Client(), msg.From)
	}
	return fmt.Sprintf("c%d's message: %s has stolen from %s", msg.From.Client(), msg.From, msg.To)
}

// post sends the messages that client c's machine has produced, and reports whether there were any. A client that
// acknowledges a theft has lost the lock, even in the middle of its release.
func (k *cluster) post(c uint8) bool {
	cl := &k.clients[c-1]
	out := cl.machine.Outgoing()
	for _, msg := range out {
		if msg.Ack && msg.From == cl.grant.id && !cl.machine.Held {
			cl.grant = grant{}
		}
		if i, there := slices.BinarySearchFunc(k.messages, msg, order); !there { // a second copy has no effect
			k.messages = slices.Insert(k.messages, i, msg)
		}
	}
	return len(out) > 0
}

// order compares two messages, for the order in which they are stored.
func order(a, b redis.Message) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(kind(a), kind(b)))
}

// kind returns 1 for an acknowledgement and 0 for the notice of a theft.
func kind(m redis.Message) int {
	if m.Ack {
		return 1
	}
	return 0
}

// Describe implements [sim.Cluster]: it adds the last command and its reply to a step of a trace.
func (k *cluster) Describe(step *scenario.TraceStep) {
	name := k.scenario.Locks[step.Exchange.Lock].Name
	step.Resource, step.Payload = name, k.last
	switch s := &k.last; {
	case s.Opens:
		step.Command, step.Reply = "HELLO", "OK"
	case s.Command.Method != redis.NoMethod:
		step.Command, step.Reply = s.Command.Words(name), s.Reply.Words()
		if len(k.servers) > 1 {
			step.Command = fmt.Sprintf("server %d: %s", s.Server+1, step.Command)
		}
	default:
		step.Command, step.Reply = k.heard[0], k.heard[1]
	}
}
