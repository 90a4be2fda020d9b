package external

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
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
	// Undecided says that the history was too large to decide linearizability.
	Undecided    bool
	Sent, Called int // commands, operations
	// Overlap is how long a stale belief stood beside another's, in virtual milliseconds, and Overlaps
	// the same in commands.
	Overlap  int64
	Overlaps int32
	// Uncontrolled is what clients did that the schedule did not decide.
	Uncontrolled Uncontrolled
	// Disagreement is how a real broker first did something else than the simulated one, "" where it did not.
	// Then only the history is judged, and what commands alone show.
	Disagreement string
	// Wire is what went over the clients' connections while the schedule decided, and Traffic what operations took of it,
	// where that was measured: see [Runner.Measure]. Neither depends on what the clients did before.
	Wire    wire.Counts
	Traffic Traffic
}

// chooser decides what happens next, or says that nothing is left to.
type chooser interface {
	Next(scenario.World) (scenario.Action, bool)
}

// run is one scenario being played.
type run struct {
	*Runner
	ctx     context.Context
	sc      *scenario.Scenario
	names   *nameTable
	here    string          // what lock names begin with in this run
	before  map[string]bool // the queues that there were before it
	wire    wire.Counts     // what had gone over the clients' connections before it, then in it
	traffic Traffic
	aliases map[string]string // of queues whose names don't tell whose they are
	clients []clientState
	ghosts  []*connection
	buried  []*wire.Conn // of which the broker is to see the end
	now     int64        // virtual milliseconds
	truth   [lock.MaxLocks]monitor.Truth
	monitor monitor.Monitor
	record  record
	owners  [lock.MaxLocks][monitor.Slots + 1]*connection // who has a slot, or had it last
	shared  bool                                          // the connection, by all
	several bool                                          // a client had connections at once
	// disagreement is [Execution.Disagreement].
	disagreement string
}

// clientState is a client in a run.
type clientState struct {
	*clientHandle
	next        int // index of its next operation
	called      int
	sent        uint16
	weight      uint16      // the same, without those that do not count; see SentBy
	counted     int         // how many of its operation count
	held        uint8       // the slot that it believes to hold
	grant       *connection // the connection under which it was granted that
	incarnation int32       // connections so far
	process     int32       // that of the operation at hand, or of the last one
	invoked     int         // index of the event that invoked it
	op          lock.Op
	arg         uint8
	busy        bool
	dead        bool
	troubled    bool  // something went wrong with its connection since the operation began
	stale       bool  // its connection was lost, not by its own doing, since it was granted what it holds
	cutOff      bool  // a connection was taken from it since the operation began
	severed     bool  // one was, and it has opened none since
	shifted     bool  // a connection or channel of its ended, however, since it last began to acquire
	refused     bool  // a claim met RESOURCE_LOCKED or ACCESS_REFUSED
	claimed     uint8 // the slot whose holder's queue the operation declared last
	withdrawn   uint8 // the slot that it gave back again
	broken      int   // channels that the broker has closed, and that it has opened none for
	owed        int   // those of them that it has not opened one for since before the operation
	wake        int64
	tail        *wire.Command // the last one that has to pass before its operation is over
	trailed     int           // how often that was another one
	before      wire.Counts   // what had gone over its connections when the operation began, in measured runs
}

// Run plays a scenario. The error is for a run that could not be made; see [Client.Call].
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
	r, err := s.begin(ctx, sc)
	if err != nil {
		return nil, err
	}
	s.gate(false)
	over, err := r.tellFallen(), error(nil)
	if over { // without its locks there is nothing to carry out
		over, err = r.act(choose)
	}
	r.metered()
	if err != nil { // nobody goes on from here
		return nil, err
	}
	if over {
		r.audit()
	}
	if err := r.end(over); err != nil {
		return nil, err
	}
	if r.disagreement = r.broker.disagreement(); r.disagreement != "" {
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
	if err := s.startClients(ctx, len(sc.Clients)); err != nil {
		return nil, err
	}
	s.runs++
	s.uncontrolled = Uncontrolled{}
	r := &run{Runner: s, ctx: ctx, sc: sc, names: s.names(sc.Locks), here: s.place(""), shared: s.Sharing(), aliases: make(map[string]string), traffic: make(Traffic)}
	r.before = s.there()
	r.clients = make([]clientState, len(sc.Clients))
	s.mu.Lock()
	for i := range r.clients {
		r.clients[i] = r.enter(uint8(i + 1))
	}
	s.mu.Unlock()
	for i := range r.clients {
		r.several = r.several || !r.shared && len(r.open(&r.clients[i])) > 1
	}
	if err := r.createAll(); err != nil {
		return nil, err
	}
	if err := r.clear(); err != nil {
		return nil, err
	}
	r.watch()
	r.mu.Lock()
	clear(r.passes)
	r.mu.Unlock()
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
		if r.config.Kind == lock.Mutex || l.Slots == 0 {
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
		for _, a := range r.handles {
			if slices.ContainsFunc(a.connections, func(l *connection) bool { return l.cut }) {
				return false
			}
		}
		return true
	})
	return err
}

// enter is a client at the beginning of a run. mu is held.
func (r *run) enter(c uint8) clientState {
	p := clientState{clientHandle: r.handles[c], process: r.processOf(c, 1)}
	p.late, p.raced = 0, 0
	if r.shared && p.host != p.clientHandle {
		p.current = p.host.current
		return p
	}
	if l := p.current; l != nil {
		p.incarnation, l.process, l.channels = 1, r.processOf(c, 1), l.channels[:0]
	}
	return p
}

// act has the chooser's actions happen until nothing is left to. over says that everybody has done what
// there was to do.
func (r *run) act(choose chooser) (over bool, err error) {
	for limit := r.sc.StepLimit(); len(r.record.steps) < limit; {
		if r.bound > 0 && len(r.record.steps) >= r.bound {
			return false, nil
		}
		a, ok := choose.Next(r)
		if !ok {
			late, err := r.late()
			if err != nil {
				return false, err
			}
			if !late {
				return r.done(), nil
			}
			continue
		}
		if !r.Can(a) {
			r.uncontrolled.Unplayed++
			continue
		}
		if err := r.do(a); err != nil {
			return false, err
		}
	}
	for i := range r.clients { // an execution that is not over by then has not made progress
		if r.clients[i].busy {
			r.unfinished(uint8(i + 1))
		}
	}
	return false, nil
}

// late waits for those who are still at it though nobody can go on. It is false where there are none;
// an operation that does not end is given up.
func (r *run) late() (bool, error) {
	stuck := func() bool {
		for i := range r.clients {
			if p := &r.clients[i]; p.busy && (p.calling || p.answer != nil) && len(p.parked) == 0 {
				return true
			}
		}
		return false
	}
	r.mu.Lock()
	waiting := stuck()
	r.mu.Unlock()
	if !waiting {
		return false, nil
	}
	came, err := r.wait(r.ctx, r.config.Limit, func() bool {
		for i := range r.clients {
			if p := &r.clients[i]; len(p.parked) > 0 || p.answer != nil {
				return true
			}
		}
		return false
	})
	if err != nil {
		return false, err
	}
	r.record.begin(scenario.Action{Kind: scenario.Advance}, r.now)
	if !came {
		r.giveUp()
	}
	err = r.settle()
	r.finish()
	return true, err
}

// giveUp ends the operations that never do. Whoever called them is ended as well.
func (r *run) giveUp() {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.busy || !p.calling {
			continue
		}
		r.uncontrolled.Hung++
		r.unfinished(uint8(i + 1))
		r.conclude(p, uint8(i+1), lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut})
		r.crash(uint8(i+1), false)
	}
}

// unfinished is an operation that does not end. Where the design is not known, it may wait for whoever holds the
// lock: there it is one that should have, as nothing has gone wrong and nobody else holds anything or is at work.
func (r *run) unfinished(c uint8) {
	r.monitor.Unfinished(c)
	if r.pattern.known {
		return
	}
	for i := range r.clients {
		if p := &r.clients[i]; i != int(c)-1 && (p.busy || p.held > 0) {
			return
		}
	}
	for _, e := range r.record.events {
		if e.Process == history.Nemesis || e.Type == history.Info {
			return
		}
	}
	r.record.violations = append(r.record.violations, scenario.Violation{
		Violation: property.Violation{Property: property.Progress, Kind: r.config.Kind, Client: c, Detail: "the operation does not end though nobody holds the lock"},
		Step:      len(r.record.steps),
	})
}

// done reports whether nobody has anything left to do, and the broker nothing to notice.
func (r *run) done() bool {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.dead && (p.busy || r.upcoming(p, uint8(i+1))) {
			return false
		}
	}
	return len(r.ghosts) == 0
}

// settle waits until every client is at the gate, or done with its operation, and takes in what is over.
func (r *run) settle() error {
	all := func(quiet func(*clientHandle) bool) func() bool {
		return func() bool {
			for i := range r.clients {
				if !quiet(r.clients[i].clientHandle) {
					return false
				}
			}
			return true
		}
	}
	calm, err := r.wait(r.ctx, r.config.Patience, all(func(a *clientHandle) bool { return a.quiet() || len(a.parked) > 0 }))
	if err != nil {
		return err
	}
	if calm {
		err = r.onward(all((*clientHandle).quiet))
	} else {
		r.mu.Lock()
		for i := range r.clients {
			if a := r.clients[i].clientHandle; !a.quiet() {
				a.asleep = true
				r.uncontrolled.Thought++
			}
		}
		r.mu.Unlock()
	}
	if err != nil {
		return err
	}
	if err := r.follow(); err != nil {
		return err
	}
	return r.collect()
}

// rest is where a client may wait for something else than a reply: behind a command to which there is none.
type rest struct {
	op     lock.Op
	method frame.ID
}

// onward waits for those who go on behind a command without an answer: it keeps nobody from that. Who was waited for
// in vain there before, is not waited for long.
func (r *run) onward(quiet func() bool) error {
	limit := r.config.Patience
	r.mu.Lock()
	for _, at := range r.resting() {
		if r.rests[at] {
			limit = grace
		}
	}
	r.mu.Unlock()
	calm, err := r.wait(r.ctx, limit, quiet)
	if calm || err != nil {
		return err
	}
	r.uncontrolled.Unanswered++
	r.mu.Lock()
	for _, at := range r.resting() {
		r.rests[at] = true
	}
	r.mu.Unlock()
	return nil
}

// resting is where clients are that are not quiet. mu is held.
func (r *run) resting() (all []rest) {
	for i := range r.clients {
		if p := &r.clients[i]; !p.quiet() && len(p.parked) > 0 {
			all = append(all, rest{p.doing, p.parked[len(p.parked)-1].Method.ID()})
		}
	}
	return all
}

// follow waits for what clients do without being told to.
func (r *run) follow() error {
	for i := range r.clients {
		for _, wait := range []func(context.Context, *clientHandle) (bool, error){r.outrun, r.Runner.follow} {
			came, err := wait(r.ctx, r.clients[i].clientHandle)
			if err != nil {
				return err
			}
			if !came {
				r.uncontrolled.Thought++
			}
		}
	}
	return nil
}

// trails reports whether an operation that was answered has sent something that is still at the gate. A release, and
// any operation where the design is not known, is over only when that has reached the broker: what gives a lock back
// may have no answer, or none that is waited for. mu is held.
func (r *run) trails(p *clientState) bool {
	n := len(p.parked)
	if n > 0 && (!r.pattern.known || p.op == lock.Release) && (p.tail == nil || p.trailed < mostCauses && !slices.Contains(p.parked, p.tail) && p.cause.op == 0) {
		p.tail = p.parked[n-1]
		p.trailed++
	}
	return slices.Contains(p.parked, p.tail)
}

// collect takes in which operations are over, and which connections clients have closed.
func (r *run) collect() error {
	r.mu.Lock()
	var hung []*connection
	var over []uint8
	for i := range r.clients {
		p := &r.clients[i]
		for _, l := range p.connections {
			left := slices.ContainsFunc(p.parked, func(c *wire.Command) bool { return c.Conn == l.conn })
			if l.hungUp && !l.halfOpen && (l.released || !left) { // what it has sent before is still on its way
				hung = append(hung, l)
			}
		}
		if p.answer != nil && p.settled && !r.trails(p) {
			over = append(over, uint8(i+1))
		}
	}
	r.mu.Unlock()
	for _, l := range hung {
		r.hangUp(l)
	}
	for _, c := range over {
		if err := r.complete(c); err != nil {
			return err
		}
	}
	return nil
}

// hangUp is a client that has closed its socket.
func (r *run) hangUp(l *connection) {
	if r.has(l) {
		r.uncontrolled.HungUp++
		r.lose(l, uint8(l.client.number), byItself)
	}
	l.conn.Release()
	r.mu.Lock()
	l.client.forget(l)
	r.mu.Unlock()
}
