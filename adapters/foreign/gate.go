package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// door is the [gate.Gate] at which the commands of one client wait.
type door struct {
	runner *Runner
	client *clientHandle
}

// connection is one connection of a client.
type connection struct {
	conn           gate.Conn
	client         *clientHandle
	opened         bool // the broker has accepted it
	released       bool // the broker has seen its end
	cut            bool // the client can know that it ended
	repliesDropped bool // answers no longer reach the client
	halfOpen       bool // abandoned or dead, and the broker has not noticed
	hungUp         bool // the client has closed its socket
	stalled        bool // the broker's answers wait at the gate
	ended          bool // the end of the connection waits behind them
	kept           []gate.Answer
	unheard        int            // commands that have passed and are not answered
	blocked        []gate.Command // those of the unheard commands that the server keeps waiting
	used           int            // number, within the run, of the last exchange on it; 0 is none
	// passage is held while commands of the connection pass through the open gate, by the connection's goroutine or by
	// openGate.
	passage sync.Mutex
}

// exchange is a command and its answer.
type exchange struct {
	command gate.Command
	answer  gate.Answer // nil until the answer arrives
}

// Opened notes a connection. A connection that a client was opening when it was killed is cut like the others.
func (g *door) Opened(c gate.Conn) {
	s := g.runner
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &connection{conn: c, client: g.client, cut: g.client.client == nil, opened: c.Open()}
	if l.cut {
		c.Cut()
	}
	s.connections[c] = l
	g.client.connections = append(g.client.connections, l)
	if l.opened && !l.cut {
		l.isNewest()
	}
}

// Arrived parks a command, or lets it pass while the gate is open.
func (g *door) Arrived(c gate.Command) {
	s := g.runner
	s.mu.Lock()
	a, l := s.sender(g.client), s.connections[c.Conn()]
	if !s.open && (l.cut || c.Obsolete()) { // it was on its way when the connection or the channel broke
		s.mu.Unlock()
		c.Discard()
		return
	}
	if !s.open && a.rested {
		a.late++
	}
	if !s.open {
		if a.fanned && s.server.Endpoints() > 1 { // the schedule went on without it
			s.uncontrolled.Thought++
		}
		a.parked = append(a.parked, c)
		s.wakes(a)
		a.stalled, a.given = false, false
		s.notify()
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.passAll(l, c)
}

// wakes notes that something arrives from client a. If a may wait for the lock, it may have acted by its own clock: because
// the others had gone on without it, or because its waiting time is over although no step let that time pass. The latter
// happens on a busy machine while other clients are at work. mu is held.
func (s *Runner) wakes(a *clientHandle) {
	if a.mayWait() && (a.asleep || !a.due && time.Now().After(a.until)) {
		s.uncontrolled.Thought++
		a.due = true
	}
	a.asleep, a.timer = false, timer{}
}

// passAll passes all commands of connection l that wait at the open gate, in order of arrival, and then last, which has just
// arrived.
func (s *Runner) passAll(l *connection, last ...gate.Command) {
	l.passage.Lock()
	defer l.passage.Unlock()
	s.mu.Lock()
	all := append(s.takeParked(l), last...)
	for _, c := range all {
		l.passing(c)
		if s.onCommands != nil {
			s.onCommands(c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		c.Pass()
		s.keepsWaiting(l, c)
	}
}

// takeParked takes the commands of connection l off the gate, whatever client sent them. mu is held.
func (s *Runner) takeParked(l *connection) (all []gate.Command) {
	for _, a := range s.everybody() {
		a.parked = slices.DeleteFunc(a.parked, func(c gate.Command) bool {
			mine := c.Conn() == l.conn
			if mine {
				all = append(all, c)
			}
			return mine
		})
	}
	slices.SortFunc(all, func(a, b gate.Command) int { return cmp.Compare(a.Number(), b.Number()) })
	return all
}

// isNewest notes that connection l exists and is the one that its client opened last. mu is held.
func (l *connection) isNewest() {
	l.client.current, l.client.most = l, max(l.client.most, l.client.connected())
}

// passing records the effect on its connection of a command that was taken off the gate. mu is held.
func (l *connection) passing(c gate.Command) {
	switch c.Role() {
	case gate.Opens:
		l.opened = true
		l.isNewest()
	case gate.Closes:
		l.cut = true // what the client has sent behind it is void
		l.client.runner.leave(l)
		l.client.runner.discard(func(o gate.Command) bool { return o.Conn() == c.Conn() })
	}
	if c.Replies() {
		l.unheard++
	}
}

// Answered sends an answer, unless it is to be lost.
func (g *door) Answered(a gate.Answer) {
	s := g.runner
	s.mu.Lock()
	l := s.connections[a.Conn()]
	if l != nil && l.stalled && !s.open {
		l.keep(a)
		s.mu.Unlock()
		return
	}
	dropped := l == nil || l.repliesDropped
	if l != nil {
		g.heard(l, a)
	}
	scheduled := !s.open
	s.mu.Unlock()
	if dropped {
		a.Lose()
	} else {
		a.Send(scheduled)
	}
}

// heard records an answer. mu is held.
func (g *door) heard(l *connection, a gate.Answer) {
	s := g.runner
	l.unheard = max(0, l.unheard-a.Settled())
	if c := s.step.command; c != nil && a.Settles(c) {
		s.step.answer = a
	}
	if !a.Asked() { // what the client does now is a reaction to it
		l.client.unasked, l.client.given = 0, true
	}
	if a.Ends() {
		l.cut = true
		s.leave(l)
	}
	s.discard(a.Voids)
	for _, o := range s.everybody() {
		if o.host == g.client {
			o.asleep, o.rested, o.fanned, o.timer = false, false, false, timer{}
		}
	}
	s.notify()
}

// ClientGone notes that a client has closed its socket. During a run, the run decides what the broker learns of that, and
// when.
func (g *door) ClientGone(c gate.Conn, err error) {
	s := g.runner
	s.mu.Lock()
	if (errors.Is(err, gate.ErrExcess) || errors.Is(err, gate.ErrProtocol)) && s.excess == nil {
		s.excess = fmt.Errorf("client %d was cut off, and nothing that it did can be judged: %w", g.client.number, err)
	}
	l := s.connections[c]
	l.hungUp = true
	release := s.open || l.released || !l.opened
	if release {
		l.released = true
		g.client.forget(l)
	}
	s.notify()
	s.mu.Unlock()
	if release {
		c.Release()
	}
}

// ServerGone tells the client that the server has ended the connection.
func (g *door) ServerGone(c gate.Conn) {
	s := g.runner
	s.mu.Lock()
	late := false
	if l := s.connections[c]; l != nil {
		l.cut = true
		s.leave(l)
		late = l.stalled && !s.open // it comes behind the replies that wait
		l.ended = late
	}
	s.mu.Unlock()
	if !late {
		c.HangUp()
	}
}
