package plugin

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// names maps the queues of a run to their names in traces, which are the same in every run. It cuts the part of a
// lock's name that differs from run to run. A queue whose name contains no lock's name may be named differently in each
// run; the trace numbers such queues in order of first use.
type names struct {
	here    string          // the beginning of lock names in this run
	before  map[string]bool // queues that existed before the run
	aliases map[string]string
	all     amqp.Names
}

// canonical is a queue's name in traces, for example "queue 1" if its name contains no lock's name.
func (n *names) canonical(name string) string {
	switch {
	case name == "" || n.before[name]:
		return name
	case strings.Contains(name, n.here):
		return strings.Replace(name, n.here, "", 1)
	}
	if n.aliases == nil {
		n.aliases = make(map[string]string)
	}
	if n.aliases[name] == "" {
		n.aliases[name] = fmt.Sprintf("queue %d", len(n.aliases)+1)
	}
	return n.aliases[name]
}

// queue is the number of a queue in traces; 0 if name is "".
func (n *names) queue(name string) amqp.Queue {
	if name == "" {
		return 0
	}
	return n.all.Intern(n.canonical(name))
}

// Usual is the names of the queues that the reference lock uses for the given number of slots.
func Usual(lock string, slots int) []string {
	names := new(amqp.Names)
	amqplock.NewLayout(names, amqplock.Names, lock, slots)
	queues := make([]string, names.Len())
	for i := range queues {
		queues[i] = names.Name(amqp.Queue(i + 1))
	}
	return queues
}

// exchange is a command that has left the gate, together with its reply.
type exchange struct {
	command *wire.Command
	model   amqp.Command
	reply   amqp.Reply
	broken  bool // a fault broke the channel: reply has INTERNAL_ERROR, the client received PRECONDITION_FAILED
	names   *names
}

var _ gate.Exchange = (*exchange)(nil)

// Exchange begins the record of a command and its reply. The reply is set later.
func (c *command) Exchange() gate.Exchange {
	names := c.conn.server.names
	x := &exchange{command: c.Command, model: c.Model(names.queue), names: names}
	x.model.Channel, x.model.Pipelined = c.conn.number(c.Channel), c.Command.Pipelined
	return x
}

// Answer sets the reply. If fault is set, the reply's code becomes INTERNAL_ERROR, by which EndsPart recognises a
// fault.
func (x *exchange) Answer(a gate.Answer, fault bool) {
	if a != nil {
		x.reply = a.(answer).Reply
	}
	if x.broken = fault; fault {
		x.reply.Code = amqp.InternalError
	}
}

// told is the reply as the client received it. After a fault its code is PRECONDITION_FAILED.
func (x *exchange) told() amqp.Reply {
	told := x.reply
	if x.broken {
		told.Code = amqp.PreconditionFailed
	}
	return told
}

// Disconnect records, in place of a reply, that the connection was closed.
func (x *exchange) Disconnect() {
	x.reply = amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced}
}

// EndsConnection reports whether the exchange ends its connection, and whether the client caused that.
func (x *exchange) EndsConnection() (ends, byClient bool) {
	byClient = x.model.Method == amqp.ConnectionClose
	return byClient || x.reply.Kind == amqp.ConnectionClosed, byClient
}

// EndsPart reports whether the exchange ends its channel, and whether a fault caused that.
func (x *exchange) EndsPart() (ends, fault bool) {
	return x.reply.Kind == amqp.ChannelClosed, x.reply.Code == amqp.InternalError
}

// Cost is the command and reply in the form by which a lock's promises about its cost are checked.
func (x *exchange) Cost() backend.Exchange {
	e := x.model.Exchange(x.reply, x.command.Replies)
	// A publish without a reply is no round trip. In a transaction, for example, the client awaits only the commit.
	e.RoundTrip = e.RoundTrip && (x.command.Replies || x.model.Method != amqp.BasicPublish)
	return e
}

// Describe records the command and its reply in step.
func (x *exchange) Describe(step *scenario.TraceStep) {
	sent := amqp.Sent{Command: x.model, Reply: x.reply, Names: &x.names.all}
	step.Exchange, step.Payload, step.Resource = x.model.Exchange(x.reply, true), sent, sent.Resource()
	step.Command, step.Reply = x.model.Words(&x.names.all), x.told().Words()
	if x.model.Method == amqp.NoMethod {
		step.Command = x.command.Method.ID().String()
	}
}
