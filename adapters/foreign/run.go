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

// Execution is what a scenario came to.
type Execution struct {
	*scenario.Trace
	// Found are the properties seen violated, Exercised those that had something to judge.
	Found, Exercised property.Set
	// Audited reports whether it was audited. In an exploration not each is: see [orders.Options].
	Audited bool
	// Undecided says why linearizability of the history was not decided, "" where it was: the history was too large.
	Undecided    string
	Sent, Called int // commands, operations
	// Uncontrolled is what clients did that the schedule did not decide.
	Uncontrolled Uncontrolled
	// Disagreement is how a real broker first did something else than the simulated one, "" where it did not.
	Disagreement string
	// Wire is what went over the clients' connections while the schedule decided, and Traffic what operations took of it,
	// where that was measured: see [Runner.Measure]. Neither depends on what the clients did before.
	Wire    gate.Counts
	Traffic Traffic
	// Told is how clients have told of what they had lost.
	Told Told
}

// chooser decides what happens next, or says that nothing is left to.
type chooser interface {
	Next(scenario.World) (scenario.Action, bool)
}

// run is one scenario being played.
type run struct {
	*Runner
	ctx          context.Context
	sc           *scenario.Scenario
	clients      []clientState // those of the scenario; those that audit follow them
	halfOpen     []*connection
	disconnected []gate.Conn // whose end the broker has yet to see
	now          int64       // virtual milliseconds
	used         int         // commands that were carried out, or discarded
	shared       bool        // the connection, by all
	record       record
	promises     monitor.Monitor
	checks       monitor.Counts // of promises
	befell       befell
	disagreement string
	auditing     bool   // the scenario is over
	last         uint8  // the client whose command passed last since then
	shown        *shown // nil where nothing is declared
	told         Told
	at           *situation // before the audit; nil is not known
	audited      bool
	measured
	shownByAudits
}

// measured is what has gone over the clients' connections.
type measured struct {
	wire    gate.Counts // before the run, then in it
	traffic Traffic
}

// shownByAudits is what audits have put to the test.
type shownByAudits struct{ found, exercised property.Set }

// clientState is a client in a run.
type clientState struct {
	*clientHandle
	id       uint8 // its number in the scenario: that of its handle is another one, where two are one process
	lock     uint8 // that it uses, by number
	next     int   // index of its next operation
	called   int
	sent     uint16 // how many commands of it have passed
	changes  uint16 // how many of them may have changed what the broker has
	weight   uint16 // the same as sent, without those that do not count; see SentBy
	counted  int    // how many of its operation count
	held     uint8  // the slot that it believes to hold
	op       lock.Op
	arg      uint8
	result   lock.Result // of the operation before
	busy     bool
	dead     bool
	wake     int64
	needless bool        // the operation releases what is not held
	lease    lease       // of what it holds, or is acquiring
	loss     loss        // of what it holds
	owes     bool        // it was granted the lock, and has not released it since, whatever it believes
	unsure   bool        // an acquire, a release or a verify has no known end, so that it may hold something
	before   gate.Counts // what had gone over its connections when the operation began, in measured runs
}

// Run plays a scenario, and audits its locks when all is over. The error is for a run that could not be made; see [Client.Call].
func (s *Runner) Run(ctx context.Context, sc *scenario.Scenario) (*Execution, error) {
	var plan scenario.Plan
	plan.Reset(sc)
	return s.play(ctx, sc, &plan)
}

// play plays a scenario with whoever chooses. Clients of a run that was cut short are replaced before the next.
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
	if e, explores := choose.(*orders.Explorer); explores && e.Cut() { // all that this could come to was seen
		over = false
	}
	r.metered()
	if err != nil { // nobody goes on from here
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

// begin makes everything ready: clients are there and connected, and the locks have their slots.
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

// metered takes in what has gone over the clients' connections in the run.
func (r *run) metered() {
	before := r.wire
	r.wire = r.counts()
	r.wire.Less(&before)
}

// createAll has the setup client make the locks with their slots.
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

// clear waits until sockets are closed that nobody uses any more.
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

// enter is a client at the beginning of a run. mu is held.
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

// tellFallen tells of a client that ended by itself before the run, and reports whether the locks are there.
func (r *run) tellFallen() (ready bool) {
	if err := r.fallen; err != nil {
		r.fallen = nil
		r.crashed(0, err)
	}
	return r.config.Kind == lock.Mutex || r.handles[0].client != nil
}

// event notes an occurrence that is no client's doing.
func (r *run) event(f history.F, c uint8) { r.record.Add(history.Occurrence(f, int32(c))) }

var _ scenario.World = (*run)(nil)
