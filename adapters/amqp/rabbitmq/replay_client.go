package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// replayer carries out a trace on a real broker: it has the trace's clients and their connections. An event Gone in the
// trace's history is the moment at which the broker notices that a connection has ended.
type replayer struct {
	broker      *Broker
	trace       *scenario.Trace
	options     ReplayOptions
	names       *amqp.Names // the trace's names of queues with the prefix of this run, and the same numbers
	nowhere     amqp.Queue  // number of a queue that never exists
	pace        pace
	declared    map[amqp.Queue]amqp.ArgumentSet
	queues      []watched
	consumed    []consumed
	observer    *observer
	clients     []replayedClient      // by the client's number; client 0 creates the initial slots of the locks
	connections map[int32]*connection // by process of the history; without those whose end the broker has noticed
	opened      []*connection         // all connections, to be closed at the end
}

// replayedClient is a client of the trace.
type replayedClient struct {
	connection *connection
	opened     int32  // number of connections that it has opened or joined
	channel    uint16 // number of the channel that it uses
	up         bool   // whether its channel is open
	provoked   bool   // a fault closed that channel
	inbox      []amqp.Delivery
}

// connection is a client's connection. cut says that a fault or the client's death has cut it.
type connection struct {
	*Conn
	cut bool
}

func newReplayer(ctx context.Context, b *Broker, target *lock.Target, t *scenario.Trace, o ReplayOptions, scale uint32) (*replayer, error) {
	names, err := prefixed(namesOf(t), o.Prefix)
	if err != nil {
		return nil, err
	}
	p := &replayer{
		broker: b, trace: t, options: o, names: names, nowhere: names.Intern("nowhere." + o.Prefix), pace: newPace(t, scale),
		clients: make([]replayedClient, len(t.Scenario.Clients)+1), connections: make(map[int32]*connection),
	}
	p.declared = declared(t)
	if target.Backend == consumption.Server {
		p.consumption(target)
	} else {
		p.queues = watchlist(target, t, p.declared)
	}
	b.note(p.names, slices.Collect(maps.Keys(p.declared)))
	return p, p.observe(ctx)
}

// observe opens the connection that asks the broker for its state.
func (p *replayer) observe(ctx context.Context) (err error) {
	p.observer, err = newObserver(ctx, p.broker.URL, p.names)
	return err
}

// take carries out a step, and returns the reply to the step's command.
func (p *replayer) take(ctx context.Context, s *scenario.TraceStep) (reply amqp.Reply, err error) {
	switch s.Action.Kind {
	case scenario.ChannelError:
		err = p.breakChannel(&p.clients[s.Action.Client])
	case scenario.Restart:
		err = p.restart(ctx)
	}
	if err == nil && amqp.SentIn(s.Payload).Command.Method != amqp.NoMethod {
		reply, err = p.send(ctx, s)
	}
	p.release(s)
	return reply, err
}

func (p *replayer) send(ctx context.Context, s *scenario.TraceStep) (amqp.Reply, error) {
	c, cmd := &p.clients[s.Action.Client], amqp.SentIn(s.Payload).Command
	if c.connection == nil || cmd.Method == amqp.ConnectionOpen {
		p.release(s) // closes the client's earlier connection
		if err := p.open(ctx, s.Action.Client); err != nil {
			return amqp.Reply{}, err
		}
	}
	if cmd.Method == amqp.ConnectionOpen {
		return amqp.Reply{Kind: amqp.OK}, nil
	}
	reply := p.do(ctx, c, p.pace.stretched(cmd), amqp.SentIn(s.Payload).Reply)
	switch {
	case cmd.Method == amqp.ChannelOpen && reply.Kind == amqp.OK:
		c.channel, c.up, c.provoked = cmd.Channel, true, false
	case cmd.Method == amqp.ChannelClose, reply.Closed():
		c.up = false
	}
	return reply, nil
}

// do sends a command and returns its reply. On a busy broker, a message to a queue that has just expired may be nacked
// for a moment. do then publishes it again until the broker has caught up, or Patience is over.
func (p *replayer) do(ctx context.Context, c *replayedClient, cmd amqp.Command, want amqp.Reply) amqp.Reply {
	patience, cancel := context.WithTimeout(ctx, p.options.Patience)
	defer cancel()
	for {
		reply := c.connection.Do([]amqp.Command{cmd})[0]
		if reply.Kind != amqp.Nack || reply == want || !p.pace.timed || patience.Err() != nil {
			return reply
		}
		sleep(patience, pollPause)
	}
}

// open opens a client's connection. If clients share one connection, the client joins it.
func (p *replayer) open(ctx context.Context, number uint8) error {
	c := &p.clients[number]
	l := p.shared()
	if l == nil || number == 0 {
		conn, err := Dial(ctx, p.broker.URL, p.names)
		if err != nil {
			return err
		}
		l = &connection{Conn: conn}
		p.opened = append(p.opened, l)
	}
	c.connection, c.up, c.provoked, c.inbox = l, false, false, nil
	c.opened++
	if number > 0 {
		p.connections[p.process(number)] = l
	}
	return nil
}

// process is the number of the client's connection as a process of the trace's history (see [spec.Event]).
func (p *replayer) process(number uint8) int32 {
	return history.Process(int32(number), p.clients[number].opened, len(p.clients)-1)
}

// shared is the connection that all clients share; nil if each has its own, or if none is open.
func (p *replayer) shared() *connection {
	if !p.trace.Scenario.Options.Facts().SharedSession {
		return nil
	}
	for _, l := range p.connections {
		if !l.cut {
			return l
		}
	}
	return nil
}

// breakChannel makes the broker close a client's channel by an error that the client has not caused.
func (p *replayer) breakChannel(c *replayedClient) error {
	if !c.up {
		return nil
	}
	r := c.connection.Do([]amqp.Command{{Method: amqp.QueueDeclare, Channel: c.channel, Queue: p.nowhere, Flags: amqp.Passive}})[0]
	if r.Kind != amqp.ChannelClosed {
		return fmt.Errorf("provoking a channel error: expected %s, got %s", amqp.ChannelClosed, r)
	}
	c.up, c.provoked = false, true
	return nil
}

// release closes the sockets of those connections whose end the broker notices in step s.
func (p *replayer) release(s *scenario.TraceStep) {
	for _, e := range p.trace.History.Events[s.First : s.First+s.Events] {
		if l := p.connections[e.Target]; e.F == history.Gone && l != nil {
			l.cut = true
			l.Kill()
			delete(p.connections, e.Target)
		}
	}
}

// unannounced reports whether the broker has to notice something about the step by itself, for example a closed socket.
func (p *replayer) unannounced(s *scenario.TraceStep) bool {
	for _, e := range p.trace.History.Events[s.First : s.First+s.Events] {
		if e.F == history.Gone || e.F == history.Restart {
			return true
		}
	}
	return p.pace.timed || len(p.consumed) > 0 && unanswered(s)
}

// restart restarts the broker, which ends every connection.
func (p *replayer) restart(ctx context.Context) error {
	for _, l := range p.connections {
		l.cut = true
	}
	clear(p.connections)
	if err := p.broker.Restart(ctx); err != nil {
		return err
	}
	return p.observe(ctx)
}

// end closes all connections and deletes all queues, also after an error.
func (p *replayer) end() error {
	var err error
	for _, l := range p.opened {
		err = errors.Join(err, l.Close())
	}
	if p.observer != nil {
		err = errors.Join(err, p.observer.Close())
	}
	return errors.Join(err, p.broker.sweep(p.names, slices.Sorted(maps.Keys(p.declared))))
}
