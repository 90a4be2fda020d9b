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

// names are what traces call the queues of a run: without the part of a lock's name that differs from run to run. A queue
// from whose name no lock can be read may be called otherwise in each run: its place in the order of first use names it.
type names struct {
	here    string          // what lock names begin with in this run
	before  map[string]bool // the queues that there were before it
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

// Usual are the queues that a lock of so many slots has by the guidelines.
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
	broken  bool // a fault broke the channel: Refuse tells the client another code than the reply has
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

// Answer takes in the reply. A channel that a fault has broken was closed by an error of the broker's own.
func (x *exchange) Answer(a gate.Answer, fault bool) {
	if a != nil {
		x.reply = a.(answer).Reply
	}
	if x.broken = fault; fault {
		x.reply.Code = amqp.InternalError
	}
}

// told is the reply with the code that the client was told.
func (x *exchange) told() amqp.Reply {
	told := x.reply
	if x.broken {
		told.Code = amqp.PreconditionFailed
	}
	return told
}

// Disconnect has the reply be that the connection is gone.
func (x *exchange) Disconnect() {
	x.reply = amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced}
}

// EndsConnection reports whether it ends its connection, and whether that is the client's doing.
func (x *exchange) EndsConnection() (ends, byClient bool) {
	byClient = x.model.Method == amqp.ConnectionClose
	return byClient || x.reply.Kind == amqp.ConnectionClosed, byClient
}

// EndsPart reports whether it ends its channel, and whether a fault has done that.
func (x *exchange) EndsPart() (ends, fault bool) {
	return x.reply.Kind == amqp.ChannelClosed, x.reply.Code == amqp.InternalError
}

// Cost is the exchange as promises are judged by it.
func (x *exchange) Cost() backend.Exchange {
	e := x.model.Exchange(x.reply, x.command.Replies)
	e.RoundTrip = e.RoundTrip && (x.command.Replies || x.model.Method != amqp.BasicPublish) // in a transaction, it is waited for the commit alone
	return e
}

// Describe notes the command and its reply in a step.
func (x *exchange) Describe(step *scenario.TraceStep) {
	sent := amqp.Sent{Command: x.model, Reply: x.reply, Names: &x.names.all}
	step.Exchange, step.Payload, step.Resource = x.model.Exchange(x.reply, true), sent, sent.Resource()
	step.Command, step.Reply = x.model.Words(&x.names.all), x.told().Words()
	if x.model.Method == amqp.NoMethod {
		step.Command = x.command.Method.ID().String()
	}
}
