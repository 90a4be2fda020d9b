package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Backend is a kind of server together with its locks, as the simulated world needs it.
type Backend struct {
	// Backend describes the locks.
	*lock.Backend
	New func() Cluster
	// Links says that commands may wait inside the server, or that clients have links besides their operations. The
	// world asks for [Links.Links] only then.
	Links bool
	// Units says that a hold belongs to a unit of a session, such as a channel, and that any command may pass the
	// hold on to another client.
	Units bool
	// Leases says that a hold can end by itself. [monitor.Truth] then has its deadline, [Clock.Advance] stops at that
	// time, and [Machines.Held] may change there.
	Leases bool
	// Lasting says that sessions are objects on the server, not connections. They survive a restart, and the server
	// still receives commands from a client whose session has ended.
	Lasting bool
	// Clocks says whether clients read their own clocks, and which clock faults are possible. If they do, the
	// backend's cluster is a [Clocked].
	Clocks ClockFaults
	// Options draws options with which the reference must hold, whatever is drawn. fix overwrites those that the user
	// has fixed. A nil function leaves all options at their defaults.
	Options func(d Draws, fix func(lock.Options) lock.Options) lock.Options
	// Answers are the server's replies that a complete search should have met.
	Answers []Answer
}

// ClockFaults says how clients' clocks may differ from the servers' clock. With the zero value, clients read no
// clocks.
type ClockFaults struct {
	// SkewMillis is the largest jump of a clock in milliseconds; DriftThousandths is the largest deviation of its
	// speed, below 1000. A search uses exactly these values and none between.
	SkewMillis, DriftThousandths uint16
	// Compared says that readings of different clocks are compared, for example because clients write times into the
	// server. Otherwise clients only measure durations, and a clock's offset makes no difference.
	Compared bool
}

// any reports whether clients have clocks.
func (f ClockFaults) any() bool { return f != ClockFaults{} }

// most is the largest argument of a clock fault of kind k.
func (f ClockFaults) most(k scenario.ActionKind) uint16 {
	if k == scenario.ClockAhead || k == scenario.ClockBehind {
		return f.SkewMillis
	}
	return f.DriftThousandths
}

// Clocked is a cluster whose clients read their own clocks. The world passes the clocks once, before the first Reset.
//
// A client that stops believing at a deadline stores it as a time of its own clock ([Clocks.Now]). NextTimer is then
// at most the time until that deadline ([Clocks.In]), and Advance stops there and ends the client's belief. A coded
// state has the deadline as remaining milliseconds of the client's clock, so the clock is read before the deadline.
type Clocked interface {
	Cluster
	Clocks(*Clocks)
}

// Answer is a reply to look for in the visited executions: an exchange with this method (0 is any), this result and,
// unless it is 0, this answer.
type Answer struct {
	Name           string
	Method, Answer uint8
	Result         backend.Result
	// If says for which options the reply can be expected; nil means all.
	If func(lock.Options) bool
}

// Fits reports whether an exchange matches the answer.
func (a *Answer) Fits(method, answer uint8, r backend.Result) bool {
	return (a.Method == 0 || a.Method == method) && (a.Answer == 0 || a.Answer == answer) && a.Result == r
}

// backends are the registered backends. The map does not change after initialisation.
var backends = make(map[string]*Backend)

// Register makes a backend known, like [lock.Register].
func Register(b *Backend) {
	if err := property.CheckSkips(b.Backend); err != nil {
		panic("sim: " + err.Error())
	}
	lock.Register(b.Backend)
	backends[b.Name] = b
}

// BackendOf is the backend of a target. The backend must be registered.
func BackendOf(t *lock.Target) *Backend {
	b := backends[t.Backend]
	if b == nil {
		panic(fmt.Sprintf("sim: target %s: no backend %q is registered: import the package that has it", t.Name, t.Backend))
	}
	return b
}
