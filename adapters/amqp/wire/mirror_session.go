package wire

import (
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// mirrorSession is a client's connection to the real broker and to its simulated replica.
type mirrorSession struct {
	mirror  *Mirror
	real    *proxySession
	replica *simSession

	mu       sync.Mutex
	inFlight inFlight              // commands sent to the replica that it has not answered
	expected map[uint64]amqp.Reply // the replica's replies, by the command's number
	awaits   func(*Answer) bool    // recognises the answer that the real broker still owes; nil if none
	answer   chan struct{}         // signals that this answer has arrived
	nameless *Command              // command that leaves a name to the real broker; the replica gets it later
}

// Handle sends a command to both brokers. It waits for the real broker's reply or, if the command has none, until it is
// carried out.
func (x *mirrorSession) Handle(cmd *Command) {
	x.mirror.turn.Lock()
	defer x.mirror.turn.Unlock()
	if cmd.Replies && unnamed(cmd.Method) {
		x.mu.Lock()
		x.nameless = cmd
		x.mu.Unlock()
	} else {
		x.imitate(cmd)
	}
	if !cmd.Replies {
		x.real.Handle(cmd)
		if cmd.channel != nil && !cmd.obsolete() && cmd.Channel != 0 && !x.real.fence(cmd.Channel, answerLimit) {
			x.mirror.disagree("the real broker does not carry out %s within %v", cmd.Method.ID(), answerLimit)
		}
		return
	}
	x.exchange("to "+cmd.Method.ID().String(), func(a *Answer) bool { return slices.Contains(a.Settles, cmd) }, func() { x.real.Handle(cmd) })
}

// exchange sends a request to the real broker and waits for the answer that answers recognises. what completes the
// error "no answer ...".
func (x *mirrorSession) exchange(what string, answers func(*Answer) bool, send func()) {
	x.mu.Lock()
	x.awaits = answers
	x.mu.Unlock()
	send()
	late := time.NewTimer(answerLimit)
	defer late.Stop()
	select {
	case <-x.answer:
		return
	case <-x.real.over:
	case <-late.C:
		x.mirror.disagree("the real broker gives no answer %s within %v", what, answerLimit)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.awaits = nil
	select { // removes an answer that arrived after the limit
	case <-x.answer:
	default:
	}
}

// unnamed reports whether the method leaves the name of a queue or consumer to the broker.
func unnamed(m frame.Method) bool {
	switch m := m.(type) {
	case *frame.QueueDeclare:
		return m.Queue == "" && !m.Passive
	case *frame.BasicConsume:
		return m.ConsumerTag == ""
	}
	return false
}

// nameAlike sends the replica a command that left a name to the broker, once the real broker has chosen the name in
// answer a.
func (x *mirrorSession) nameAlike(a *Answer) {
	x.mu.Lock()
	cmd := x.nameless
	if cmd == nil || !slices.Contains(a.Settles, cmd) {
		x.mu.Unlock()
		return
	}
	x.nameless = nil
	x.mu.Unlock()
	name := ""
	switch m := a.Method.(type) {
	case *frame.QueueDeclareOk:
		name = m.Queue
	case *frame.BasicConsumeOk:
		name = m.ConsumerTag
	}
	x.mirror.replica.do(func() { x.mirror.replica.given = name })
	x.imitate(cmd)
}

// imitate sends a command to the replica. Commands of the login go to the real broker only.
func (x *mirrorSession) imitate(cmd *Command) {
	replicated := *cmd
	switch m := cmd.Method.(type) {
	case *frame.ConnectionStartOk:
		x.replica.user, _, _ = credentials(m)
		return
	case *frame.ConnectionTuneOk:
		if m.ChannelMax > 0 {
			x.replica.channelMax = m.ChannelMax
		}
		return
	case *frame.ConnectionOpen:
		replicated.Method = &frame.ConnectionOpen{VirtualHost: "/"}
	default:
		if cmd.Channel == 0 && isAnswer[m.ID().Index()] {
			return
		}
	}
	x.mu.Lock()
	if x.inFlight.arrived(&replicated) {
		x.inFlight.leaves(&replicated)
		replicated.Number = cmd.Number
	}
	x.mu.Unlock()
	x.replica.Handle(&replicated)
	if m, declares := cmd.Method.(*frame.QueueDeclare); declares && x.mirror.isQuorum(m.Queue) {
		x.mirror.disagree("the quorum queue '%s' is there, to which a real broker does some things only moments after it was told to: "+
			"locks with quorum queues are judged on the simulated broker alone", m.Queue)
	}
}

// Heartbeat forwards a heartbeat.
func (x *mirrorSession) Heartbeat() { x.real.Heartbeat() }

// Close ends the connection on both brokers. It returns when the real broker has released everything that the
// connection had.
func (x *mirrorSession) Close() {
	x.mirror.turn.Lock()
	defer x.mirror.turn.Unlock()
	x.replica.Close()
	if !x.real.leave(answerLimit) {
		x.mirror.disagree("the real broker does not close a connection within %v", answerLimit)
	}
}

// ended records that the real broker has ended the connection. It is a disagreement if the replica has not.
func (x *mirrorSession) ended(err error) {
	x.mirror.replica.do(func() {
		if x.replica.state == running {
			x.mirror.disagree("the real broker has ended a connection that there is no reason to end: %v", err)
		}
	})
}

// answered compares an answer of the real broker with the replica's. It skips a channel.close that CloseChannel has
// caused.
func (x *mirrorSession) answered(a *Answer) {
	x.nameAlike(a)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.awaits != nil && x.awaits(a) {
		x.awaits = nil
		x.answer <- struct{}{}
	}
	for _, c := range a.Settles {
		want, known := x.expected[c.Number]
		delete(x.expected, c.Number)
		switch alone := len(a.Settles) == 1; {
		case c.Method.ID() == frame.ConnectionCloseID:
			// The real broker answers only one connection.close, even if the client sends several.
		case !known && a.Reply.Closed(): // a command that was still on its way when the broker closed
		case !known:
			x.mirror.disagree("the real broker answers %s, the simulated one does not", c.Method.ID())
		case want.Kind != a.Reply.Kind || alone && want != a.Reply:
			x.mirror.disagree("to %s the real broker answers %s, the simulated one %s", c.Method.ID(), a.Reply, want)
		default:
			x.mirror.agree()
		}
	}
}

// Answer stores a reply of the replica, for comparison with the real broker's.
func (x *mirrorSession) Answer(m Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &Answer{Message: m}
	x.inFlight.answered(a)
	for _, c := range a.Settles {
		x.expected[c.Number] = a.Reply
	}
}

// End, Flush, LoggedIn and Heartbeats do nothing: the replica's messages are not sent to clients.
func (x *mirrorSession) End(error)                {}
func (x *mirrorSession) Flush()                   {}
func (x *mirrorSession) LoggedIn(string)          {}
func (x *mirrorSession) Heartbeats(time.Duration) {}
