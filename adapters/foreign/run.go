package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Execution is the result of a scenario.
type Execution struct {
	*scenario.Trace
	// Found are the properties that were violated. Exercised are the properties that were tested.
	Found, Exercised property.Set
	// Audited reports whether the execution was audited. In an exploration not every execution is: see [orders.Options].
	Audited bool
	// Undecided is the reason why it was not decided whether the history is linearizable: the history is too large. It
	// is "" if it was decided.
	Undecided    string
	Sent, Called int // numbers of commands and operations
	// Uncontrolled counts what clients did outside the control of the schedule.
	Uncontrolled Uncontrolled
	// Disagreement describes the first difference between a real broker and the simulated one; "" if there is none.
	Disagreement string
	// Wire is the traffic of the clients' connections while the schedule was carried out. Traffic is its part in the
	// calls of each operation, if that was measured: see [Runner.Measure]. Neither depends on earlier executions.
	Wire    gate.Counts
	Traffic Traffic
	// Told counts the clients' reports of lost locks.
	Told Told
}

// chooser decides which action happens next. It returns false if nothing is left to do.
type chooser interface {
	Next(scenario.World) (scenario.Action, bool)
}

// run is the run of one scenario.
type run struct {
	*Runner
	ctx          context.Context
	sc           *scenario.Scenario
	clients      []clientState // the clients of the scenario, then the auditors
	halfOpen     []*connection
	disconnected []gate.Conn // connections that have ended, of which the broker must be told
	now          int64       // virtual time in milliseconds
	used         int         // number of commands that passed the gate
	shared       bool        // all clients share one connection
	record       record
	promises     monitor.Monitor
	checks       monitor.Counts // how often each promise was tested
	befell       befell
	atRest       int // number of events before all was at rest; 0 if it never was
	belated      belated
	disagreement string
	auditing     bool   // whether the scenario is over and the audit has begun
	last         uint8  // in the audit, the client whose command passed last
	shown        *shown // nil if the user has not declared what holds a lock
	told         Told
	at           *situation // the state before the audit; nil if unknown
	audited      bool
	measured
	shownByAudits
}

// measured is the traffic of the clients' connections.
type measured struct {
	wire    gate.Counts // the total before the run; at the end, the traffic of the run
	traffic Traffic
}

// shownByAudits are the properties that audits found violated, and those that they tested.
type shownByAudits struct{ found, exercised property.Set }

// clientState is a client in a run.
type clientState struct {
	*clientHandle
	id       uint8 // number in the scenario; differs from the handle's number if two clients are one process
	lock     uint8 // number of the lock that it uses
	next     int   // index of its next operation
	called   int
	sent     uint16 // number of commands that have passed
	changes  uint16 // number of passed commands that may have changed a lock on the broker
	weight   uint16 // number of calls, passed commands and ends of operations that count in SentBy
	counted  int    // number of passed commands of the current operation
	held     uint8  // slot that the client believes to hold; 0 if none
	op       lock.Op
	arg      uint8
	result   lock.Result // of the previous operation
	busy     bool
	dead     bool
	wake     int64
	timesUp  int64       // virtual time until which its operation may wait for the lock; 0 if it may not wait
	needless bool        // the current operation is a release of what is not held
	lease    lease       // of the lock that the client holds or is acquiring
	loss     loss        // whether its lock was granted to another client
	owes     bool        // the client was granted the lock and has not released it since, whatever it believes
	unsure   bool        // the client may hold something, as an acquire, release or verify has an unknown outcome
	before   gate.Counts // its traffic before the operation, in measured runs
}

// Run carries out a scenario and then audits its locks. An error means that the run could not be carried out; see
// [Client.Call].
func (s *Runner) Run(ctx context.Context, sc *scenario.Scenario) (*Execution, error) {
	var plan scenario.Plan
	plan.Reset(sc)
	return s.play(ctx, sc, &plan)
}

// play carries out a scenario; choose makes the choices. If the previous run was ended early, its clients are replaced
// first.
func (s *Runner) play(ctx context.Context, sc *scenario.Scenario, choose chooser) (_ *Execution, err error) {
	if s.cutShort {
		if err := s.Renew(ctx); err != nil {
			return nil, err
		}
	}
	defer func() { s.cutShort = err != nil }()
	var r *run
	err = s.spent.Reset(func() error {
		r, err = s.begin(ctx, sc)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.openGate(false)
	over := r.tellFallen()
	// If the setup client has ended, there may be no locks, and nothing is carried out.
	if over {
		over, err = r.loop(choose)
		r.uncontrolled.Unplayed += r.belated.left()
	}
	if e, explores := choose.(*orders.Explorer); explores && e.Cut() { // all continuations were visited already
		over = false
	}
	r.metered()
	if err != nil { // the run cannot continue
		return nil, err
	}
	if err := s.spent.Reset(func() error { return r.end(over) }); err != nil {
		return nil, err
	}
	if r.disagreement = r.server.Disagreement(); r.disagreement != "" {
		err = s.deleteAll()
	}
	return r.execution(), err
}

// begin prepares a run: its clients are running and connected, and the locks are created.
func (s *Runner) begin(ctx context.Context, sc *scenario.Scenario) (*run, error) {
	if len(sc.Clients) > lock.MaxClients || len(sc.Locks) > lock.MaxLocks {
		return nil, fmt.Errorf("a scenario with %d clients and %d locks: expected at most %d and %d",
			len(sc.Clients), len(sc.Locks), lock.MaxClients, lock.MaxLocks)
	}
	handles := handlesOf(sc)
	if err := s.startClients(ctx, slices.Max(handles)); err != nil {
		return nil, err
	}
	s.runs++
	s.uncontrolled = Uncontrolled{}
	r := &run{Runner: s, ctx: ctx, sc: sc, shared: s.Sharing(), measured: measured{traffic: make(Traffic)}}
	s.server.Begin(s.place(""))
	r.clients = make([]clientState, len(sc.Clients), len(sc.Clients)+mostAuditors)
	s.mu.Lock()
	for i := range r.clients {
		r.clients[i] = r.enter(uint8(i+1), r.handles[handles[i]])
		r.clients[i].lock = uint8(sc.Clients[i].Lock)
	}
	s.mu.Unlock()
	if err := r.createAll(); err != nil {
		return nil, err
	}
	if err := r.clear(); err != nil {
		return nil, err
	}
	r.promise()
	r.show()
	r.wire = s.counts()
	return r, nil
}

// metered computes the traffic of the run.
func (r *run) metered() {
	before := r.wire
	r.wire = r.counts()
	r.wire.Less(&before)
}

// createAll makes the setup client create the locks with their slots.
func (r *run) createAll() error {
	for _, l := range r.sc.Locks {
		if r.config.Kind == lock.Mutex || l.Slots == 0 || r.about.Slotless() {
			continue
		}
		_, err := r.handles[0].do(r.ctx, lock.Create, Params{Name: r.place(l.Name), Slots: int(l.Slots)})
		if errors.Is(err, ErrDied) {
			r.fallen = err
			return r.handles[0].kill()
		}
		if err != nil {
			return fmt.Errorf("making lock %s with %d slots: %w", l.Name, l.Slots, err)
		}
	}
	return nil
}

// clear waits until the clients have closed the sockets of connections that were cut.
func (r *run) clear() error {
	_, err := r.wait(r.ctx, r.config.Patience, func() bool {
		for _, a := range r.everybody() {
			if slices.ContainsFunc(a.connections, func(l *connection) bool { return l.cut }) {
				return false
			}
		}
		return true
	})
	return err
}

// enter is the state of client c, which uses handle a, at the beginning of a run. The caller must hold mu.
func (r *run) enter(c uint8, a *clientHandle) clientState {
	p := clientState{clientHandle: a, id: c}
	p.late = 0
	if r.shared && p.host != p.clientHandle {
		p.current = p.host.current
		return p
	}
	if l := p.current; l != nil {
		l.conn.Renew()
	}
	return p
}

// tellFallen records that a client ended by itself before the run. ready says whether the run can begin.
func (r *run) tellFallen() (ready bool) {
	if err := r.fallen; err != nil {
		r.fallen = nil
		r.crashed(0, err)
	}
	return r.config.Kind == lock.Mutex || r.handles[0].client != nil
}

// event records an event f about client c that is no operation, for example a crash.
func (r *run) event(f history.F, c uint8) { r.record.Add(history.Occurrence(f, int32(c))) }

var _ scenario.World = (*run)(nil)
