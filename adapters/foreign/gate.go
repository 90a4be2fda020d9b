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

// door is the [gate.Gate] of one client: there the client's commands wait until the schedule lets them pass.
type door struct {
	runner *Runner
	client *clientHandle
}

// connection is a client's connection to the server through the gate.
type connection struct {
	conn           gate.Conn
	client         *clientHandle
	opened         bool // the broker has accepted the connection
	released       bool // the broker knows that the connection has ended
	cut            bool // the client can know that the connection has ended
	repliesDropped bool // answers are dropped and no longer reach the client
	halfOpen       bool // the client has lost the connection, or is dead, and the broker has not noticed
	hungUp         bool // the client has closed its socket
	stalled        bool // the gate holds back the broker's answers
	ended          bool // the broker has ended the connection, and the gate holds that back from the client too
	kept           []gate.Answer
	unheard        int            // number of commands that have passed and are not answered
	blocked        []gate.Command // commands among them that the server keeps waiting, for example for a lock
	used           int            // number of the last command on it, counted in the run; 0 if none
	// passage is held while commands of the connection pass through the open gate. The connection's goroutine and
	// openGate both let commands pass.
	passage sync.Mutex
}

// exchange is the command of the current step and its answer.
type exchange struct {
	command gate.Command
	answer  gate.Answer // nil until the answer arrives
}

// Opened records a new connection. If the client was killed while it opened the connection, the connection is cut.
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

// Arrived makes a command wait at the gate. If the gate is open, the command passes at once.
func (g *door) Arrived(c gate.Command) {
	s := g.runner
	s.mu.Lock()
	a, l := s.sender(g.client), s.connections[c.Conn()]
	if !s.open && (l.cut || c.Obsolete()) { // the connection or channel broke while the command was on its way
		s.mu.Unlock()
		c.Discard()
		return
	}
	if !s.open && a.rested {
		a.late++
	}
	if !s.open {
		if a.fanned && s.server.Endpoints() > 1 { // the schedule did not wait for this command
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

// wakes records that something has arrived from client a. If a may be waiting for the lock, wakes counts that a has
// acted by its own clock, in two cases. First, the runner had stopped waiting for a. Second, a's waiting time is over
// although no step let it pass, as happens on a busy machine. The caller must hold mu.
func (s *Runner) wakes(a *clientHandle) {
	if a.mayWait() && (a.asleep || !a.due && time.Now().After(a.until)) {
		s.uncontrolled.Thought++
		a.due = true
	}
	a.asleep, a.timer = false, timer{}
}

// passAll lets all commands of connection l that wait at the open gate pass, in order of arrival, and then last, which
// have just arrived.
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

// takeParked removes the commands of connection l from the gate, whichever client sent them, and returns them in order.
// The caller must hold mu.
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

// isNewest records that connection l is open and the one that its client opened last. The caller must hold mu.
func (l *connection) isNewest() {
	l.client.current, l.client.most = l, max(l.client.most, l.client.connected())
}

// passing records what a command that leaves the gate does to its connection. The caller must hold mu.
func (l *connection) passing(c gate.Command) {
	switch c.Role() {
	case gate.Opens:
		l.opened = true
		l.isNewest()
	case gate.Closes:
		l.cut = true // later commands on this connection have no effect
		l.client.runner.leave(l)
		l.client.runner.discard(func(o gate.Command) bool { return o.Conn() == c.Conn() })
	}
	if c.Replies() {
		l.unheard++
	}
}

// Answered sends an answer to the client, unless answers are dropped or held back.
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

// heard records an answer. The caller must hold mu.
func (g *door) heard(l *connection, a gate.Answer) {
	s := g.runner
	l.unheard = max(0, l.unheard-a.Settled())
	if c := s.step.command; c != nil && a.Settles(c) {
		s.step.answer = a
	}
	if !a.Asked() { // the client's next commands may be a reaction to it
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

// ClientGone records that a client has closed its socket. During a run, the run decides when the broker learns of that.
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

// ServerGone closes the client's socket, because the server has ended the connection.
func (g *door) ServerGone(c gate.Conn) {
	s := g.runner
	s.mu.Lock()
	late := false
	if l := s.connections[c]; l != nil {
		l.cut = true
		s.leave(l)
		late = l.stalled && !s.open // the client sees the end after the answers that are held back
		l.ended = late
	}
	s.mu.Unlock()
	if !late {
		c.HangUp()
	}
}
