package amqp

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// Names are what traces call the queues of a run: without the part of a lock's name that differs from run to run. A queue
// from whose name no lock can be read may be called otherwise in each run: its place in the order of first use names it.
type Names struct {
	Here    string          // what lock names begin with in this run
	Before  map[string]bool // the queues that there were before it
	aliases map[string]string
	all     amqp.Names
}

// Canonical is a queue's name in traces.
func (n *Names) Canonical(name string) string {
	switch {
	case name == "" || n.Before[name]:
		return name
	case strings.Contains(name, n.Here):
		return strings.Replace(name, n.Here, "", 1)
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
func (n *Names) queue(name string) amqp.Queue {
	if name == "" {
		return 0
	}
	return n.all.Intern(n.Canonical(name))
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

// Exchange is a command that leaves the gate, and its reply.
type Exchange struct {
	command *wire.Command
	model   amqp.Command
	reply   amqp.Reply
	names   *Names
}

// NewExchange is that of a command on a channel, by the channel's number in traces.
func NewExchange(cmd *wire.Command, channel uint16, names *Names) *Exchange {
	x := &Exchange{command: cmd, model: cmd.Model(names.queue), names: names}
	x.model.Channel, x.model.Pipelined = channel, cmd.Pipelined
	return x
}

// Answer takes in the reply; nil is that there was none. A channel that a fault has closed was closed by an error of the
// broker's own.
func (x *Exchange) Answer(a *wire.Answer, fault bool) {
	if a != nil {
		x.reply = a.Reply
	}
	if fault {
		x.reply.Code = amqp.InternalError
	}
}

// Refuse has the reply be that the connection is gone.
func (x *Exchange) Refuse() {
	x.reply = amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced}
}

// EndsConnection reports whether the exchange ends its connection, and whether that is the client's doing.
func (x *Exchange) EndsConnection() (ends, byClient bool) {
	byClient = x.model.Method == amqp.ConnectionClose
	return byClient || x.reply.Kind == amqp.ConnectionClosed, byClient
}

// EndsChannel reports whether the exchange ends its channel, and whether a fault has done that.
func (x *Exchange) EndsChannel() (ends, fault bool) {
	return x.reply.Kind == amqp.ChannelClosed, x.reply.Code == amqp.InternalError
}

// Cost is the exchange as promises are judged by it.
func (x *Exchange) Cost() backend.Exchange {
	e := x.model.Exchange(x.reply, x.command.Replies)
	e.RoundTrip = e.RoundTrip && (x.command.Replies || x.model.Method != amqp.BasicPublish) // in a transaction, it is waited for the commit alone
	return e
}

// Describe notes the command and its reply in a step.
func (x *Exchange) Describe(step *scenario.TraceStep) {
	sent := amqp.Sent{Command: x.model, Reply: x.reply, Names: &x.names.all}
	step.Exchange, step.Payload, step.Resource = x.model.Exchange(x.reply, true), sent, sent.Resource()
	step.Command, step.Reply = x.model.Words(&x.names.all), x.reply.Words()
	if x.model.Method == amqp.NoMethod {
		step.Command = x.command.Method.ID().String()
	}
}

// MayChange reports whether the command may change what the broker has of a lock.
func (x *Exchange) MayChange() bool { return mayChange(&x.model) }

// MayChange reports whether a command that waits may change what the broker has of a lock.
func MayChange(cmd *wire.Command) bool {
	model := cmd.Model(func(string) amqp.Queue { return 0 })
	return mayChange(&model)
}

func mayChange(cmd *amqp.Command) bool {
	switch cmd.Method {
	case amqp.QueueDeclare, amqp.ExchangeDeclare:
		return !cmd.Flags.Has(amqp.Passive)
	case amqp.BasicQos, amqp.TxSelect, amqp.ConnectionOpen, amqp.ConnectionClose, amqp.ChannelOpen, amqp.ChannelClose, amqp.ConfirmSelect:
		return false
	}
	return true
}

// Closer closes channels as a broker does that has an error of its own.
type Closer interface {
	CloseChannel(c *wire.Conn, channel uint16, code amqp.Code) bool
}

// CloseChannel closes the channel of a command. The code is one that closes a channel and nothing more, to all drivers.
func CloseChannel(by Closer, cmd *wire.Command) {
	by.CloseChannel(cmd.Conn, cmd.Channel, amqp.PreconditionFailed)
}
