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

// door is where the commands of one client wait: the gate as its server knows it.
type door struct {
	runner *Runner
	client *clientHandle
}

// connection is one connection of a client.
type connection struct {
	conn           gate.Conn
	client         *clientHandle
	opened         bool // the broker has it
	released       bool // the broker has seen its end
	cut            bool // the client can have learnt of it
	repliesDropped bool // no answer reaches the client any more
	halfOpen       bool // given up or dead, and the broker has not noticed
	hungUp         bool // the client has closed its socket
	stalled        bool // what the broker answers waits
	ended          bool // and so does its end
	kept           []gate.Answer
	unheard        int            // commands that have passed and are not answered
	blocked        []gate.Command // those among them that the server has kept waiting
	used           int            // the how manieth exchange of the run was its last; 0 is none
	// passage is held by whoever has commands of the connection pass while the gate is open: the connection
	// itself, or who opens the gate.
	passage sync.Mutex
}

// exchange is a command and what it was answered.
type exchange struct {
	command gate.Command
	answer  gate.Answer // nil until it comes
}

// Opened notes a connection. One that a client was opening when it was killed is cut as the others were.
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

// wakes notes that something comes from a client. One that may wait for the lock has gone on by a clock of its own if it was
// left alone, or if its time is up though no step has let it pass: on a busy machine that happens while others are at work. mu
// is held.
func (s *Runner) wakes(a *clientHandle) {
	if a.mayWait() && (a.asleep || !a.due && time.Now().After(a.until)) {
		s.uncontrolled.Thought++
		a.due = true
	}
	a.asleep, a.timer = false, timer{}
}

// passAll has all commands of a connection pass that wait at the open gate, in the order in which they came, and
// behind them one that comes just then.
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

// takeParked takes a connection's commands off the gate, whoever has sent them. mu is held.
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

// isNewest notes that a connection is there, and the one that its client has opened last. mu is held.
func (l *connection) isNewest() {
	l.client.current, l.client.most = l, max(l.client.most, l.client.connected())
}

// passing notes what a command does to its connection that has been taken off the gate. mu is held.
func (l *connection) passing(c gate.Command) {
	switch c.Role() {
	case gate.Opens:
		l.opened = true
		l.isNewest()
	case gate.Closes:
		l.cut = true // what the client has sent behind it means nothing
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

// heard notes an answer. mu is held.
func (g *door) heard(l *connection, a gate.Answer) {
	s := g.runner
	l.unheard = max(0, l.unheard-a.Settled())
	if c := s.step.command; c != nil && a.Settles(c) {
		s.step.answer = a
	}
	if !a.Asked() { // what the client does now, it does for that
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

// ClientGone notes that a client has hung up. A run, while there is one, decides what the broker learns of that, and when.
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
