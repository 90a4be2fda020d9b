package wire

import (
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// mirrorSession is a connection to both brokers.
type mirrorSession struct {
	mirror  *Mirror
	real    *proxySession
	replica *simSession

	mu       sync.Mutex
	inFlight inFlight              // of what the simulated one was told
	expected map[uint64]amqp.Reply // what it answered, by the command's number
	awaits   func(*Answer) bool    // the answer that the real one owes; nil where it owes none
	answer   chan struct{}         // that has come
	nameless *Command              // the replica gets it once the real broker has chosen a name
}

// Handle tells a command to both, and waits until it is answered, or carried out if there is no answer to it.
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

// exchange sends something to the real broker, and waits for the answer.
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
	select { // it may have come in the end
	case <-x.answer:
	default:
	}
}

// unnamed reports whether the broker is to name something.
func unnamed(m frame.Method) bool {
	switch m := m.(type) {
	case *frame.QueueDeclare:
		return m.Queue == "" && !m.Passive
	case *frame.BasicConsume:
		return m.ConsumerTag == ""
	}
	return false
}

// nameAlike tells the simulated broker of a command that an answer settles, with the name that the real one has chosen.
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

// imitate tells a command to the simulated broker. Logging in is between the client and the real one.
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

// Heartbeat passes a heartbeat on.
func (x *mirrorSession) Heartbeat() { x.real.Heartbeat() }

// Close ends the connection on both, and waits until the real broker has dropped what it had.
func (x *mirrorSession) Close() {
	x.mirror.turn.Lock()
	defer x.mirror.turn.Unlock()
	x.replica.Close()
	if !x.real.leave(answerLimit) {
		x.mirror.disagree("the real broker does not close a connection within %v", answerLimit)
	}
}

// ended notes that the real broker has ended the connection.
func (x *mirrorSession) ended(err error) {
	x.mirror.replica.do(func() {
		if x.replica.state == running {
			x.mirror.disagree("the real broker has ended a connection that there is no reason to end: %v", err)
		}
	})
}

// answered compares what the real broker answers. A channel that it was made to close, it closes for its
// own reasons.
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
		case c.Method.ID() == frame.ConnectionCloseID: // there is but one answer to it, however often it comes
		case !known && a.Reply.Closed(): // it was on its way, or held at the gate
		case !known:
			x.mirror.disagree("the real broker answers %s, the simulated one does not", c.Method.ID())
		case want.Kind != a.Reply.Kind || alone && want != a.Reply:
			x.mirror.disagree("to %s the real broker answers %s, the simulated one %s", c.Method.ID(), a.Reply, want)
		default:
			x.mirror.agree()
		}
	}
}

// Answer takes what the simulated broker answers.
func (x *mirrorSession) Answer(m Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &Answer{Message: m}
	x.inFlight.answered(a)
	for _, c := range a.Settles {
		x.expected[c.Number] = a.Reply
	}
}

// End, Flush, LoggedIn and Heartbeats are of no interest from a broker that no client hears.
func (x *mirrorSession) End(error)                {}
func (x *mirrorSession) Flush()                   {}
func (x *mirrorSession) LoggedIn(string)          {}
func (x *mirrorSession) Heartbeats(time.Duration) {}
