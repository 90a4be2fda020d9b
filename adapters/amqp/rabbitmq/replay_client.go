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

// replayer is the clients of a trace on a real broker. The trace's history contains the ends of their connections: an event
// Gone is the moment at which the broker sees one end.
type replayer struct {
	broker      *Broker
	trace       *scenario.Trace
	options     ReplayOptions
	names       *amqp.Names // the numbers of the trace, with the names of this run
	nowhere     amqp.Queue  // a queue that never exists
	pace        pace
	declared    map[amqp.Queue]amqp.ArgumentSet
	queues      []watched
	consumed    []consumed
	observer    *observer
	clients     []replayedClient      // by number; 0 creates the initial slots of the locks
	connections map[int32]*connection // connections that the broker has not seen end, by process
	opened      []*connection         // all connections
}

// replayedClient is one client.
type replayedClient struct {
	connection *connection
	opened     int32  // number of connections that it opened, or joined
	channel    uint16 // the channel that it uses
	up         bool   // whether that channel is open
	provoked   bool   // a fault closed the channel
	inbox      []amqp.Delivery
}

// connection is a connection, and whether a fault or its own end cut it.
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

// observe opens the connection from which the broker's state is observed.
func (p *replayer) observe(ctx context.Context) (err error) {
	p.observer, err = newObserver(ctx, p.broker.URL, p.names)
	return err
}

// take carries out a step, and returns the reply to its command.
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
		p.release(s) // the client's earlier connection
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

// do sends a command. An expired queue disappears a moment after its process, and on a busy broker a message that is
// published in between reaches no queue and is nacked. do publishes it again until the broker has caught up, or patience is
// over.
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

// open opens a connection for a client, or makes it join the shared one.
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

// process is the number of a client's connection in the trace's history (see [spec.Event]).
func (p *replayer) process(number uint8) int32 {
	return history.Process(int32(number), p.clients[number].opened, len(p.clients)-1)
}

// shared is the connection that all clients share, nil if they do not, or if it does not exist.
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

// breakChannel makes the broker close a client's channel without the client's doing.
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

// release closes the sockets of the connections whose end the broker sees in a step.
func (p *replayer) release(s *scenario.TraceStep) {
	for _, e := range p.trace.History.Events[s.First : s.First+s.Events] {
		if l := p.connections[e.Target]; e.F == history.Gone && l != nil {
			l.cut = true
			l.Kill()
			delete(p.connections, e.Target)
		}
	}
}

// unannounced reports whether a step changes something that the broker has to detect by itself.
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

// end closes every connection and deletes every queue, whatever has happened.
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
