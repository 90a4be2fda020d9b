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
	// Found are the properties seen violated. Exercised are the properties that had something to judge.
	Found, Exercised property.Set
	// Audited reports whether the execution was audited. In an exploration not every execution is: see [orders.Options].
	Audited bool
	// Undecided is the reason why linearizability of the history was not decided: the history was too large. It is "" if
	// linearizability was decided.
	Undecided    string
	Sent, Called int // numbers of commands and operations
	// Uncontrolled counts what clients did that the schedule did not decide.
	Uncontrolled Uncontrolled
	// Disagreement describes the first difference between a real broker and the simulated one, "" if there was none.
	Disagreement string
	// Wire counts what went over the clients' connections while the schedule was carried out. Traffic is how much of this
	// belongs to calls of each operation, if that was measured: see [Runner.Measure]. What the clients did in earlier
	// executions does not influence either.
	Wire    gate.Counts
	Traffic Traffic
	// Told describes the clients' reports of losses.
	Told Told
}

// chooser decides what happens next, or says that nothing is left to do.
type chooser interface {
	Next(scenario.World) (scenario.Action, bool)
}

// run is one scenario being played.
type run struct {
	*Runner
	ctx          context.Context
	sc           *scenario.Scenario
	clients      []clientState // the clients of the scenario, then the auditors
	halfOpen     []*connection
	disconnected []gate.Conn // connections whose end the broker has yet to see
	now          int64       // virtual milliseconds
	used         int         // commands that were carried out or discarded
	shared       bool        // all clients share one connection
	record       record
	promises     monitor.Monitor
	checks       monitor.Counts // of the tests of promises
	befell       befell
	belated      belated
	disagreement string
	auditing     bool   // the scenario is over
	last         uint8  // the client whose command passed last since then
	shown        *shown // nil without a declaration
	told         Told
	at           *situation // before the audit; nil if unknown
	audited      bool
	measured
	shownByAudits
}

// measured is what has gone over the clients' connections.
type measured struct {
	wire    gate.Counts // before the run, then during the run
	traffic Traffic
}

// shownByAudits are the properties that audits found violated, and those that they exercised.
type shownByAudits struct{ found, exercised property.Set }

// clientState is a client in a run.
type clientState struct {
	*clientHandle
	id       uint8 // its number in the scenario; its handle has another number if two clients are one process
	lock     uint8 // number of the lock that it uses
	next     int   // index of its next operation
	called   int
	sent     uint16 // number of its commands that have passed
	changes  uint16 // number of its passed commands that may have changed the broker's state of a lock
	weight   uint16 // like sent, without the commands that do not count; see SentBy
	counted  int    // passed commands of the current operation
	held     uint8  // the slot that it believes to hold
	op       lock.Op
	arg      uint8
	result   lock.Result // of the operation before
	busy     bool
	dead     bool
	wake     int64
	needless bool        // the operation releases what is not held
	lease    lease       // of the lock that it holds or is acquiring
	loss     loss        // of the lock that it holds
	owes     bool        // it was granted the lock and has not released it since, whatever it believes
	unsure   bool        // an acquire, a release or a verify has no known end, so that it may hold something
	before   gate.Counts // totals of its connections when the operation began, in measured runs
}

// Run plays a scenario, and then audits its locks. The error is for a run that could not be carried out; see [Client.Call].
func (s *Runner) Run(ctx context.Context, sc *scenario.Scenario) (*Execution, error) {
	var plan scenario.Plan
	plan.Reset(sc)
	return s.play(ctx, sc, &plan)
}

// play plays a scenario; choose makes the choices. Clients of a run that was cut short are replaced before the next run.
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
	if over { // without its locks there is nothing to carry out
		over, err = r.loop(choose)
	}
	if e, explores := choose.(*orders.Explorer); explores && e.Cut() { // all continuations of this were seen
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

// begin prepares a run: clients are running and connected, and the locks have their slots.
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

// metered records what has gone over the clients' connections in the run.
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

// clear waits until unused sockets are closed.
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

// enter is the state of client c, with handle a, at the beginning of a run. mu is held.
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

// tellFallen reports a client that ended by itself before the run. ready says whether the locks exist.
func (r *run) tellFallen() (ready bool) {
	if err := r.fallen; err != nil {
		r.fallen = nil
		r.crashed(0, err)
	}
	return r.config.Kind == lock.Mutex || r.handles[0].client != nil
}

// event records an occurrence that no client caused.
func (r *run) event(f history.F, c uint8) { r.record.Add(history.Occurrence(f, int32(c))) }

var _ scenario.World = (*run)(nil)
