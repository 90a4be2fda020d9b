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

// mostCommands is the maximum number of commands to open a client's connection and channel. They are sent before the
// first step of an execution, so the bound on steps does not apply to them.
const mostCommands = 64

// machine is a user's implementation with checks around each call.
type machine struct {
	guard  *Guard
	own    amqplock.Implementation
	layout *amqplock.Layout

	mu     sync.Mutex
	opened map[*amqplock.Machine]int // number of commands since the start of Connect
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

// count calls a method that returns a number, and checks that it is between least and 255. After a mistake it returns
// least.
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
		return amqp.Command{Method: amqp.ConfirmSelect, Channel: uint16(m.Channel)} // has no effect on other clients
	}
	return cmd
}

// open counts the commands with which a machine opens its connection, and returns the count. anew resets it to 0.
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

// last returns the highest queue number of the lock.
func (g *machine) last() amqp.Queue {
	l := g.layout
	return max(l.A[len(l.A)-1], l.B[len(l.B)-1], l.Admin, l.Mutex)
}

// change calls a method that changes the machine, twice from the same state. If the results differ, the machine
// depends on something besides its state and input. Then a search that returns to a state would miss executions.
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

// look calls a method that must not change the machine, and records a mistake if it does.
func (g *machine) look(m *amqplock.Machine, at method, call func(*amqplock.Machine)) {
	looked := *m
	if g.call(at, m.Op, func() { call(&looked) }) && looked != *m {
		g.wrong(m, at, m.Op, "it changed the machine: expected Start, Choose and Apply alone to do so")
	}
}

// call calls a user's method, unless a mistake was recorded already. It reports whether the method returned.
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

// wrong records a mistake of a method, and ends the machine's operation.
func (g *machine) wrong(m *amqplock.Machine, at method, op lock.Op, why string) {
	g.guard.fail(of(at, op), why)
	end(m)
}

// end ends the operation under way, so that nothing waits for it. Its result is not used.
func end(m *amqplock.Machine) {
	m.Phase, m.Sleep, m.Held = amqplock.NoPhase, 0, 0
	m.Link = min(m.Link, amqplock.Up)
	m.Result = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	if m.Op == lock.Connect {
		m.Result = lock.Result{Outcome: lock.Done}
	}
}

// panicked returns the text for a panic: its value and where it occurred.
func panicked(value any) string {
	p := inprocess.Panic{During: "it", Value: value, Stack: string(debug.Stack())}
	return p.Error()
}
