package sim

import (
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Backend is a kind of server, together with its locks, as the simulation uses it.
type Backend struct {
	// Backend describes the locks of the backend.
	*lock.Backend
	New func() Cluster
	// Links says that commands may wait inside the server, or that clients have activities besides their operations,
	// such as renewing a lease. The simulation calls [Links.Links] only if it is set.
	Links bool
	// Units says that a hold belongs to a unit of a session, such as an AMQP channel, and that any command may pass the
	// hold to another client.
	Units bool
	// Leases says that a hold can end by the passing of time. [monitor.Truth] then has its deadline, [Clock.Advance]
	// stops at the deadline, and [Machines.Held] may change at it.
	Leases bool
	// Lasting says that sessions are objects on the server, not connections. They survive a restart, and the server
	// still receives commands from a client whose session has ended.
	Lasting bool
	// Clocks says which faults of clients' clocks are possible, if clients read their own clocks. The backend's cluster
	// is then a [Clocked]. The zero value means that clients read no clocks.
	Clocks ClockFaults
	// Options draws options for a scenario; the reference locks must be right with any of them. fix replaces options by
	// those that the user has fixed. If Options is nil, all options have their defaults.
	Options func(d Draws, fix func(lock.Options) lock.Options) lock.Options
	// Answers are the server's replies that a complete search is expected to meet.
	Answers []Answer
}

// ClockFaults limits how far clients' clocks may differ from the servers' clock. The zero value means that clients read
// no clocks.
type ClockFaults struct {
	// SkewMillis is the largest jump of a clock, in milliseconds. DriftThousandths is the largest deviation of a
	// clock's speed, in thousandths, below 1000. A search uses exactly these values, and no smaller ones.
	SkewMillis, DriftThousandths uint16
	// Compared says that readings of different clocks are compared, for example because clients write times into the
	// server. If it is false, clients only measure durations, and the offset of a clock makes no difference.
	Compared bool
}

// any reports whether clients read clocks.
func (f ClockFaults) any() bool { return f != ClockFaults{} }

// most returns the largest argument of a clock fault of kind k; 0 means that the fault is impossible.
func (f ClockFaults) most(k scenario.ActionKind) uint16 {
	if k == scenario.ClockAhead || k == scenario.ClockBehind {
		return f.SkewMillis
	}
	return f.DriftThousandths
}

// Clocked is a cluster whose clients read their own clocks. The simulation passes the clocks once, before the first
// Reset.
//
// Suppose that a client stops believing in its hold at a deadline. The deadline must be a time of the client's clock
// ([Clocks.Now]). NextTimer must be at most the time until the deadline ([Clocks.In]), and Advance must stop there and
// end the belief. An encoded state has the deadline as remaining milliseconds of the client's clock, so a decoder reads
// the clock before the deadline.
type Clocked interface {
	Cluster
	Clocks(*Clocks)
}

// Answer is a reply to look for in the visited executions: an exchange with this Method, this Result and this Answer.
// For Method and Answer, 0 means any.
type Answer struct {
	Name           string
	Method, Answer uint8
	Result         backend.Result
	// If reports whether the reply can occur with the given options; nil means that it can with all.
	If func(lock.Options) bool
}

// Fits reports whether an exchange with this method, answer and result matches a.
func (a *Answer) Fits(method, answer uint8, r backend.Result) bool {
	return (a.Method == 0 || a.Method == method) && (a.Answer == 0 || a.Answer == answer) && a.Result == r
}

// backends has the registered backends by name. It does not change after initialisation.
var backends = make(map[string]*Backend)

// Register registers a backend, so that [BackendOf] finds it. It also registers the backend's locks, like
// [lock.Register].
func Register(b *Backend) {
	if err := property.CheckSkips(b.Backend); err != nil {
		panic("sim: " + err.Error())
	}
	lock.Register(b.Backend)
	backends[b.Name] = b
}

// BackendOf returns the backend of a target. The backend must be registered.
func BackendOf(t *lock.Target) *Backend {
	b := backends[t.Backend]
	if b == nil {
		panic(fmt.Sprintf("sim: target %s: no backend %q is registered: import the package that has it", t.Name, t.Backend))
	}
	return b
}
