package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Backend is a kind of server with the locks on it, as a simulated world takes them.
type Backend struct {
	// Backend describes the locks on it.
	*lock.Backend
	New func() Cluster
	// Links says that commands may wait inside the server, or that clients have links beside their operations:
	// [Links.Links] is asked only then.
	Links bool
	// Units says that a hold belongs to a unit of a session, such as a channel, and that any command may pass it on
	// to another client.
	Units bool
	// Leases says that a hold can end by itself: [monitor.Truth] has until-when, [Clock.Advance] stops there, and
	// [Machines.Held] may change by it.
	Leases bool
	// Lasting says that sessions are objects on the server, not connections. They survive a restart, and the server
	// still receives commands of a client whose session has ended.
	Lasting bool
	// Clocks says that clients look at clocks of their own, and what may be done to those. A cluster of such a backend
	// is a [Clocked].
	Clocks ClockFaults
	// Options draws options that are safe: whatever they are, the reference must hold. fix sets those that are not
	// drawn. nil draws none: they are the defaults.
	Options func(d Draws, fix func(lock.Options) lock.Options) lock.Options
	// Answers are replies that locks are made to meet.
	Answers []Answer
}

// ClockFaults says how clients' clocks may differ from the servers' clock. The zero value is that clients look at none.
type ClockFaults struct {
	// SkewMillis is the most by which a clock jumps, in milliseconds, and DriftThousandths by how much it is fast or slow at
	// most, below 1000. A search does just that to clocks, and nothing in between.
	SkewMillis, DriftThousandths uint16
	// Compared says that the readings of different clocks are compared, as when clients write times into the server.
	// Otherwise clients only measure durations, and it makes no difference how far a clock is ahead.
	Compared bool
}

// any reports whether clients have clocks.
func (f ClockFaults) any() bool { return f != ClockFaults{} }

// most is by how much a clock fault of a kind is at most.
func (f ClockFaults) most(k scenario.ActionKind) uint16 {
	if k == scenario.ClockAhead || k == scenario.ClockBehind {
		return f.SkewMillis
	}
	return f.DriftThousandths
}

// Clocked is a cluster whose clients look at clocks of their own. It is given them once, before the first Reset.
//
// A client that stops believing at a deadline keeps that by its own clock ([Clocks.Now]); NextTimer is then at most
// in how many milliseconds it comes ([Clocks.In]), and Advance stops there and has it hold nothing. A state has in how
// many milliseconds of the client's clock the deadline comes: it is read after the clock.
type Clocked interface {
	Cluster
	Clocks(*Clocks)
}

// Answer is a server's reply to look for in what was visited: an exchange of that method (0 is any), result and, unless it
// is 0, answer.
type Answer struct {
	Name           string
	Method, Answer uint8
	Result         backend.Result
	// If says with which options it can be expected; nil is all.
	If func(lock.Options) bool
}

// Fits reports whether an exchange is what the answer says.
func (a *Answer) Fits(method, answer uint8, r backend.Result) bool {
	return (a.Method == 0 || a.Method == method) && (a.Answer == 0 || a.Answer == answer) && a.Result == r
}

// backends are those registered. It is not changed once a program has begun.
var backends = make(map[string]*Backend)

// Register makes a backend known, as [lock.Register] does.
func Register(b *Backend) {
	if err := property.CheckSkips(b.Backend); err != nil {
		panic("sim: " + err.Error())
	}
	lock.Register(b.Backend)
	backends[b.Name] = b
}

// BackendOf is the backend that a target stands on. It must have been registered.
func BackendOf(t *lock.Target) *Backend {
	b := backends[t.Backend]
	if b == nil {
		panic(fmt.Sprintf("sim: target %s: no backend %q is registered: import the package that has it", t.Name, t.Backend))
	}
	return b
}
