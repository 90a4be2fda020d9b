package foreign

import (
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// gate is where the commands of one client wait.
type gate struct {
	stage *Stage
	actor *actor
}

// link is one connection of a client.
type link struct {
	conn  *wire.Conn
	actor *actor
	// process is what a history knows it by; 0 before it is open.
	process  int32
	channels []uint16 // as they were first used: the i-th is channel i+1 in traces
	broken   uint16   // a channel that the broker is to close when the client next uses it; 0 is none
	opened   bool     // the broker has it
	released bool     // the broker has seen its end
	cut      bool     // the client can have learnt of it
	deaf     bool     // no answer reaches the client any more
	ghost    bool     // given up or dead, and the broker has not noticed
	hungUp   bool     // the client has closed its socket
	unheard  int      // commands that have passed and are not answered
}

// exchange is a command and what it was answered.
type exchange struct {
	command  *wire.Command
	reply    amqp.Reply
	answered bool
}

// Opened notes a connection.
func (g *gate) Opened(c *wire.Conn) {
	s := g.stage
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &link{conn: c, actor: g.actor}
	s.links[c] = l
	g.actor.links = append(g.actor.links, l)
}

// Arrived parks a command, or lets it pass while the gate is open.
func (g *gate) Arrived(c *wire.Command) {
	s := g.stage
	s.mu.Lock()
	a, l := s.sender(g.actor), s.links[c.Conn]
	if !s.open && (l.cut || c.Void()) { // it was on its way when the connection or the channel broke
		s.mu.Unlock()
		c.Discard()
		return
	}
	if !s.open {
		a.parked = append(a.parked, c)
		a.asleep = false
		s.cue()
		s.mu.Unlock()
		return
	}
	l.passing(c)
	if s.listener != nil {
		s.listener(c)
	}
	s.mu.Unlock()
	c.Pass()
}

// passing notes what a command does to its connection. mu is held.
func (l *link) passing(c *wire.Command) {
	switch c.Method.ID() {
	case frame.ConnectionOpenID:
		l.opened = true
		l.actor.current = l
	case frame.ConnectionCloseID:
		l.cut = true
		l.actor.stage.leave(l)
	}
	if c.Replies {
		l.unheard++
	}
}

// Answered sends an answer, unless it is to be lost.
func (g *gate) Answered(a *wire.Answer) {
	s := g.stage
	s.mu.Lock()
	l := s.links[a.Conn]
	deaf := l == nil || l.deaf
	if l != nil {
		g.heard(l, a)
	}
	s.mu.Unlock()
	if deaf {
		a.Lose()
		return
	}
	a.Send()
}

// heard notes an answer. mu is held.
func (g *gate) heard(l *link, a *wire.Answer) {
	s := g.stage
	for _, c := range a.Settles {
		l.unheard = max(0, l.unheard-1)
		if c == s.step.command {
			s.step.reply, s.step.answered = a.Reply, true
		}
	}
	switch a.Method.(type) {
	case *frame.ChannelClose:
		s.discard(func(c *wire.Command) bool { return c.Conn == a.Conn && c.Channel == a.Channel })
	case *frame.ConnectionClose:
		l.cut = true
		s.leave(l)
		s.discard(func(c *wire.Command) bool { return c.Conn == a.Conn })
	}
	for _, o := range s.actors {
		o.asleep = o.asleep && o.host != g.actor
	}
	s.cue()
}

// ClientGone notes that a client has hung up. What the broker gets to know of that, and when, is the
// run's business while there is one.
func (g *gate) ClientGone(c *wire.Conn, _ error) {
	s := g.stage
	s.mu.Lock()
	l := s.links[c]
	l.hungUp = true
	release := s.open || l.released || !l.opened
	if release {
		l.released = true
		g.actor.forget(l)
	}
	s.cue()
	s.mu.Unlock()
	if release {
		c.Release()
	}
}

// BrokerGone tells the client that the broker has ended the connection.
func (g *gate) BrokerGone(c *wire.Conn, _ error) {
	s := g.stage
	s.mu.Lock()
	if l := s.links[c]; l != nil {
		l.cut = true
		s.leave(l)
	}
	s.mu.Unlock()
	c.HangUp()
}
