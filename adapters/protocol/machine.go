package protocol

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// mostCommands is how many commands it may take to open the connection and the channel that a client works on. They are
// opened before the first step of an execution, so that no bound of steps ends that.
const mostCommands = 64

// machine is somebody else's implementation, guarded.
type machine struct {
	guard  *Guard
	own    amqplock.Implementation
	layout *amqplock.Layout

	mu     sync.Mutex
	opened map[*amqplock.Machine]int // commands of Connect since it was called
}

// Start implements [amqplock.Implementation].
func (g *machine) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	channel := m.Channel
	if op == lock.Connect {
		g.open(m, true)
	}
	if !g.change(m, starting, op, func(m *amqplock.Machine) { g.own.Start(m, op, arg) }) {
		m.Op, m.Channel = op, channel
		end(m)
		return
	}
	switch {
	case m.Op != op:
		g.wrong(m, starting, op, fmt.Sprintf("expected the machine's Op to be %s, found %s", op, m.Op))
	case m.Channel != channel:
		g.wrong(m, starting, op, fmt.Sprintf("expected its Channel to stay %d, found %d", channel, m.Channel))
	}
}

// Choose implements [amqplock.Implementation].
func (g *machine) Choose(m *amqplock.Machine, i int) {
	g.change(m, choosing, m.Op, func(m *amqplock.Machine) { g.own.Choose(m, i) })
}

// Apply implements [amqplock.Implementation].
func (g *machine) Apply(m *amqplock.Machine, r amqp.Reply) {
	g.change(m, applying, m.Op, func(m *amqplock.Machine) { g.own.Apply(m, r) })
}

// Choices implements [amqplock.Implementation].
func (g *machine) Choices(m *amqplock.Machine) int {
	return g.count(m, choices, g.own.Choices, 0, "ways")
}

// Pending implements [amqplock.Implementation].
func (g *machine) Pending(m *amqplock.Machine) int {
	return g.count(m, pending, g.own.Pending, 1, "commands")
}

// count is how many of something a machine has, and the least where there was a mistake.
func (g *machine) count(m *amqplock.Machine, at method, of func(*amqplock.Machine) int, least int, things string) (n int) {
	g.look(m, at, func(m *amqplock.Machine) { n = of(m) })
	if n < least || n > 255 {
		g.wrong(m, at, m.Op, fmt.Sprintf("expected %d to 255 %s, found %d", least, things, n))
	}
	if g.guard.over() {
		return least
	}
	return n
}

// Next implements [amqplock.Implementation].
func (g *machine) Next(m *amqplock.Machine) (cmd amqp.Command) {
	g.look(m, next, func(m *amqplock.Machine) { cmd = g.own.Next(m) })
	switch {
	case g.guard.over():
	case cmd.Method == amqp.NoMethod || cmd.Method >= amqp.Methods:
		g.wrong(m, next, m.Op, fmt.Sprintf("expected a command, found none (phase %d)", m.Phase))
	case cmd.Queue > g.last():
		g.wrong(m, next, m.Op, fmt.Sprintf("expected a queue of the layout, found queue %d", cmd.Queue))
	case cmd.Route != 0:
		g.wrong(m, next, m.Op, "expected the default exchange: a lock's queues are bound to no other")
	case m.Op == lock.Connect && g.open(m, false) > mostCommands:
		g.wrong(m, next, m.Op, fmt.Sprintf("expected the connection to be open, or given up, after %d commands", mostCommands))
	}
	if g.guard.over() {
		return amqp.Command{Method: amqp.ConfirmSelect, Channel: uint16(m.Channel)} // which disturbs nobody
	}
	return cmd
}

// open counts the commands by which a machine opens its connection, from the beginning or one more.
func (g *machine) open(m *amqplock.Machine, anew bool) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(map[*amqplock.Machine]int)
	}
	g.opened[m]++
	if anew {
		g.opened[m] = 0
	}
	return g.opened[m]
}

// last is the last queue of the lock.
func (g *machine) last() amqp.Queue {
	l := g.layout
	return max(l.A[len(l.A)-1], l.B[len(l.B)-1], l.Admin, l.Mutex)
}

// change calls a method that goes on, twice. A machine that decides by something else than its state and its input would go
// on otherwise when a search returns to that state.
func (g *machine) change(m *amqplock.Machine, at method, op lock.Op, call func(*amqplock.Machine)) bool {
	again, was := *m, m.Op
	if !g.call(at, op, func() { call(m); call(&again) }) {
		end(m)
		return false
	}
	r := m.Result
	switch {
	case again != *m:
		g.wrong(m, at, op, "it goes on in two ways from one state: expected all that it decides by to be in the machine, "+
			"and Choices instead of chance")
	case at != starting && m.Op != was:
		g.wrong(m, at, op, fmt.Sprintf("expected its Op to stay %s, found %s", was, m.Op))
	case m.Link > amqplock.Up:
		g.wrong(m, at, op, fmt.Sprintf("expected its Link to be Down, ChannelDown or Up, found %d", m.Link))
	case m.Held > monitor.Slots:
		g.wrong(m, at, op, fmt.Sprintf("expected it to hold a slot from 1 to %d, or 0, found %d", monitor.Slots, m.Held))
	case !m.Idle():
	case r.Outcome == lock.Pending || r.Outcome > lock.Unknown:
		g.wrong(m, at, op, fmt.Sprintf("expected an outcome, as its Phase says that %s is over, found none", op))
	case op == lock.Acquire && r.Outcome == lock.Done && r.Held && (r.Slot == 0 || r.Slot != m.Held):
		g.wrong(m, at, op, fmt.Sprintf("expected the slot that it says it holds to be the one in Held, found %d and %d", r.Slot, m.Held))
	case r.Reason.String() == "unknown":
		g.wrong(m, at, op, fmt.Sprintf("expected a reason, found number %d, which is none", r.Reason))
	}
	return !g.guard.over()
}

// look calls a method that changes nothing.
func (g *machine) look(m *amqplock.Machine, at method, call func(*amqplock.Machine)) {
	looked := *m
	if g.call(at, m.Op, func() { call(&looked) }) && looked != *m {
		g.wrong(m, at, m.Op, "it changed the machine: expected Start, Choose and Apply alone to do so")
	}
}

// call calls somebody else's method, unless there was a mistake already, and reports whether it returned.
func (g *machine) call(at method, op lock.Op, f func()) (returned bool) {
	if g.guard.over() {
		return false
	}
	inside := &g.guard.inside[at][op%16]
	inside.Add(1)
	defer func() {
		inside.Add(-1)
		g.guard.calls.Add(1)
		if returned {
			return
		}
		why := "it ended its goroutine (runtime.Goexit, which t.FailNow and t.SkipNow call)"
		if value := recover(); value != nil {
			why = panicked(value)
		}
		g.guard.fail(of(at, op), why)
	}()
	f()
	return true
}

// wrong is a mistake in what a method did.
func (g *machine) wrong(m *amqplock.Machine, at method, op lock.Op, why string) {
	g.guard.fail(of(at, op), why)
	end(m)
}

// end ends the operation under way, so that nobody waits for it: nothing of what comes after is looked at.
func end(m *amqplock.Machine) {
	m.Phase, m.Sleep, m.Held = amqplock.NoPhase, 0, 0
	m.Link = min(m.Link, amqplock.Up)
	m.Result = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	if m.Op == lock.Connect {
		m.Result = lock.Result{Outcome: lock.Done}
	}
}

// panicked says what a method panicked with, and where.
func panicked(value any) string {
	p := inprocess.Panic{During: "it", Value: value, Stack: string(debug.Stack())}
	return p.Error()
}
