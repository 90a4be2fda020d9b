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

// names gives the queues of a run their names in traces: without the part of a lock's name that differs from run to run. A
// queue whose name contains no lock's name may have another name in each run; it is named by its place in the order of first
// use.
type names struct {
	here    string          // the beginning of lock names in this run
	before  map[string]bool // queues that existed before the run
	aliases map[string]string
	all     amqp.Names
}

// canonical is a queue's name in traces.
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

// queue is the number of a queue in traces; 0 is none.
func (n *names) queue(name string) amqp.Queue {
	if name == "" {
		return 0
	}
	return n.all.Intern(n.canonical(name))
}

// Usual are the queues of a lock with the given number of slots, according to the guidelines.
func Usual(lock string, slots int) []string {
	names := new(amqp.Names)
	amqplock.NewLayout(names, amqplock.Names, lock, slots)
	queues := make([]string, names.Len())
	for i := range queues {
		queues[i] = names.Name(amqp.Queue(i + 1))
	}
	return queues
}

// exchange is a command that leaves the gate, and its reply.
type exchange struct {
	command *wire.Command
	model   amqp.Command
	reply   amqp.Reply
	broken  bool // a fault broke the channel: Refuse sends another code than the reply has
	names   *names
}

var _ gate.Exchange = (*exchange)(nil)

// Exchange begins the exchange of a command.
func (c *command) Exchange() gate.Exchange {
	names := c.conn.server.names
	x := &exchange{command: c.Command, model: c.Model(names.queue), names: names}
	x.model.Channel, x.model.Pipelined = c.conn.number(c.Channel), c.Command.Pipelined
	return x
}

// Answer sets the reply. If fault is set, the reply is that the broker closed the channel with an internal error.
func (x *exchange) Answer(a gate.Answer, fault bool) {
	if a != nil {
		x.reply = a.(answer).Reply
	}
	if x.broken = fault; fault {
		x.reply.Code = amqp.InternalError
	}
}

// told is the reply with the code that the client received.
func (x *exchange) told() amqp.Reply {
	told := x.reply
	if x.broken {
		told.Code = amqp.PreconditionFailed
	}
	return told
}

// Disconnect sets, in place of a reply, that the connection is gone.
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

// Cost is the exchange in the form in which promises about cost are judged.
func (x *exchange) Cost() backend.Exchange {
	e := x.model.Exchange(x.reply, x.command.Replies)
	e.RoundTrip = e.RoundTrip && (x.command.Replies || x.model.Method != amqp.BasicPublish) // a transaction waits for the commit only
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
