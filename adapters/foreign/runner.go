package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Config configures a [Runner]: its clients, and how long to wait for them. Starter and Open are required.
type Config struct {
	Starter Starter
	Kind    lock.Kind
	Options map[string]any // options of the target, given to every client
	// Open opens the server behind the gate. It is called again when clients are renewed.
	Open func() (gate.Server, error)
	// Server is the kind of the server, as scenarios name it; "" is AMQP.
	Server string
	Name   string // name of the target in reports; "" is the name that its clients give
	// Names are the names of locks that scenarios use. If the target refuses a name, another one replaces it.
	Names []string
	// Own are custom properties, which are judged as well.
	Own own.List
	// FailedAcquire is what a failed acquire promises.
	FailedAcquire property.FailedAcquire
	// Holding declares how the server shows who holds a lock.
	Holding holding.Declared
	// Timing says how long to wait for clients.
	Timing
	// Costs adds up the costs of operations; nil adds nothing.
	Costs *monitor.Costs
	// Checks counts how often each property was put to the test; nil counts nothing.
	Checks *monitor.Counts
}

// Runner runs scenarios on an external lock, one after the other, with the same clients. It is not safe for
// concurrent use.
type Runner struct {
	calls
	tried
	patience
	staff
	passing

	config       Config
	server       gate.Server
	prefix       string          // prefix of the names of all queues
	handles      []*clientHandle // by number; 0 is the setup client, which creates and deletes locks and audits
	auditors     []*clientHandle // further clients that audit
	about        About
	runs         int
	since        time.Duration // time since the server's clock began
	uncontrolled Uncontrolled  // of the current run
	burst        time.Duration
	bound        int // maximum number of steps
	agreed       int // agreed replies of earlier servers, see Agreed
	spent        Spent
	held         bool // the declaration has shown a holder of a lock
	// fallen is the error of a client that ended by itself in a call outside of a run, until a run reports it.
	fallen error
	// cutShort says that a run was ended early: its clients may still have operations under way.
	cutShort bool
}

// calls are the calls under way.
type calls struct {
	ctx   context.Context // of all calls
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// tried is what the attempts before the first run have shown: see try.
type tried struct {
	alike    bool            // slots have no numbers
	names    map[string]bool // names of locks that were tried, and whether the target accepts them
	holdsTwo bool            // a client can hold two locks at once
	fragile  bool            // a release of what is not held ends its client
}

// patience is how long the runner waits for clients that may send nothing.
type patience struct {
	// lenience is how long operations that a scenario left under way may take to end. It shrinks when they do not end.
	lenience  time.Duration
	inVain    int // waits without result for clients that may give up waiting for a late reply
	outwaited int // the same for clients whose waiting time is up
}

// staff describes the clients that stand ready to replace those that crash.
type staff struct {
	spares    []*spare
	crashes   bool   // clients crash in scenarios
	exploring bool   // an exploration is running; if clients crash, they do in nearly every execution
	audits    audits // the audits that an exploration has seen; nil repeats every audit
}

// passing is the state of the gate, under mu. wake signals that it has changed.
type passing struct {
	mu          sync.Mutex
	wake        chan struct{}
	open        bool // every command passes at once
	connections map[gate.Conn]*connection
	step        exchange // the command that passes
	onCommands  func(gate.Command)
	excess      error // the error of a client that exceeded a bound or speaks another protocol; nil if there is none
}

// mostConnections is the maximum number of simultaneous connections of a client.
const mostConnections = 256

// NewRunner starts the first clients, and checks that their use of a lock is visible at the gate.
func NewRunner(ctx context.Context, c Config) (*Runner, error) {
	c.Timing = c.Timing.withDefaults()
	s := &Runner{config: c, passing: passing{wake: make(chan struct{}, 1), open: true, connections: make(map[gate.Conn]*connection)}}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	err := s.connect()
	if err == nil {
		err = s.spent.Reset(func() error { return s.start(ctx) })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start starts the first clients and makes them use a lock.
func (s *Runner) start(ctx context.Context) error {
	s.mu.Lock()
	s.excess = nil
	s.mu.Unlock()
	err := s.startClients(ctx, 1) // whether clients share a connection shows with two clients
	if err == nil {
		err = s.try(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.excess != nil { // the client's own error does not help
		return s.excess
	}
	if _, unseen := s.server.(gate.Unseen); unseen && err == nil && s.about.Leases {
		return errLeases
	}
	return err
}

// errLeases is the error for locks with leases on a server whose time is not virtual, so that leases cannot be made to end.
var errLeases = errors.New(`the locks have leases ("leases":true), and nothing is known of the server's time: leave leases out, and use some that last longer than a run`)

// Renew ends all clients and starts new ones with a broker of their own, as [NewRunner] does. Nothing that was done before
// affects later runs.
func (s *Runner) Renew(ctx context.Context) error {
	return s.spent.Reset(func() error {
		if err := s.deleteAll(); err != nil {
			return err
		}
		s.inVain, s.outwaited = 0, 0
		err := s.start(ctx)
		s.cutShort = err != nil
		return err
	})
}

// Numberless reports whether any slot is as good as another: slots have no numbers, or are limits that callers state.
func (s *Runner) Numberless() bool { return s.alike }

// Asides describe answers of the target that carry little information.
func (s *Runner) Asides() (said []string) {
	if s.config.Kind == lock.Semaphore && s.alike {
		said = append(said, "slots have no numbers, or all the same: how many hold the lock is counted")
	}
	if s.fragile {
		said = append(said, "a release of what is not held ends the client")
	}
	return said
}

// About is what the clients declare about themselves.
func (s *Runner) About() About { return s.about }

// Measure makes later runs tell which commands were written together. A message that is to be confirmed waits for burst at
// the gate, in case more commands follow; 0 does not wait. The cost of operations is judged only in such runs. On a busy
// machine commands are late, so an excessive cost found with [SettleBriefly] should be checked again with [SettleLong].
func (s *Runner) Measure(burst time.Duration) { s.burst = burst }

// Bound ends later runs after steps steps, whatever is left to do; 0 is [scenario.Scenario.StepLimit].
func (s *Runner) Bound(steps int) { s.bound = steps }

// How long to wait for commands that were written right behind a message.
const (
	SettleBriefly = 2 * time.Millisecond
	Settle        = 10 * time.Millisecond
	SettleLong    = 40 * time.Millisecond
)

// Close ends all clients and the broker. If the broker is not the runner's own, Close removes what the clients have left
// there.
func (s *Runner) Close() error {
	err := s.shutDown()
	s.stop()
	s.tasks.Wait()
	return err
}

// shutDown ends all clients and clears the broker. Clients that may still have an operation under way are killed.
func (s *Runner) shutDown() error {
	if !s.cutShort { // closing in good order may need commands
		s.openGate(true)
	}
	var errs []error
	for _, a := range s.everybody() {
		s.mu.Lock()
		calling := a.calling
		s.mu.Unlock()
		switch {
		case calling || s.cutShort:
			errs = append(errs, a.kill())
		case a.client != nil:
			if err := a.client.Close(); !a.harmed {
				errs = append(errs, err)
			}
		}
	}
	for _, a := range s.everybody() {
		errs = append(errs, a.address.Close())
	}
	for _, p := range s.spares {
		errs = append(errs, p.end())
	}
	s.spares = nil
	s.mu.Lock()
	s.handles, s.auditors, s.connections, s.open = nil, nil, make(map[gate.Conn]*connection), true
	s.mu.Unlock()
	return errors.Join(append(errs, s.clean())...)
}

// startClients ensures that the clients with numbers up to n are running, connected and idle.
func (s *Runner) startClients(ctx context.Context, n int) error {
	for len(s.handles) <= n {
		a, err := s.newHandle(len(s.handles))
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.handles = append(s.handles, a)
		s.mu.Unlock()
	}
	for _, a := range s.handles[:n+1] {
		if err := a.ready(ctx); err != nil {
			return fmt.Errorf("%s: %w", called(a.number), err)
		}
	}
	switch {
	case s.crashes && s.exploring:
		s.prepare(2)
	case s.crashes:
		s.prepare(1)
	}
	return nil
}

// startAuditors ensures that n clients audit in addition to the setup client.
func (s *Runner) startAuditors(ctx context.Context, n int) error {
	for len(s.auditors) < n {
		a, err := s.newHandle(lock.MaxClients + 1 + len(s.auditors))
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.auditors = append(s.auditors, a)
		s.mu.Unlock()
	}
	return nil
}

// newHandle is a handle for a client number, without a client yet.
func (s *Runner) newHandle(number int) (*clientHandle, error) {
	a := &clientHandle{runner: s, number: number}
	a.host = a
	address, err := s.listenFor(&door{runner: s, client: a})
	a.address = address
	return a, err
}

// everybody is the handles of all clients.
func (s *Runner) everybody() []*clientHandle { return slices.Concat(s.handles, s.auditors) }

// listenFor is an address at which the client of door d finds the server.
func (s *Runner) listenFor(d *door) (gate.Address, error) {
	return s.server.Listen(d, gate.Limits{Connections: mostConnections, Handshake: StartLimit})
}

// listen calls told with each command that passes while the gate is open.
func (s *Runner) listen(told func(gate.Command)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCommands = told
}

// Spent says how the runner has spent its time so far.
func (s *Runner) Spent() Spent { return s.spent }

// counts is the total of the connections of all clients.
func (s *Runner) counts() (sum gate.Counts) {
	for _, a := range s.handles {
		counts := a.address.Counts()
		sum.Add(&counts)
	}
	return sum
}

// notify signals that something has changed.
func (s *Runner) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// openGate opens or closes the gate. When it opens, the commands that wait there pass.
func (s *Runner) openGate(open bool) {
	s.mu.Lock()
	s.open = open
	var links []*connection
	if open {
		for _, a := range s.everybody() {
			links = append(links, a.connections...)
		}
	}
	s.mu.Unlock()
	for _, l := range links {
		s.passAll(l)
	}
}

// wait waits until holds is true. holds is called under mu whenever something has changed. The result is false after limit.
// The error is for a client that exceeded a bound.
func (s *Runner) wait(ctx context.Context, limit time.Duration, holds func() bool) (bool, error) {
	var late <-chan time.Time
	var began time.Time
	for {
		s.mu.Lock()
		ok, excess := holds(), s.excess
		s.mu.Unlock()
		if (ok || excess != nil) && late != nil {
			s.spent.Waited(time.Since(began), true)
		}
		if ok || excess != nil {
			return ok, excess
		}
		if late == nil {
			timer := time.NewTimer(limit)
			defer timer.Stop()
			late, began = timer.C, time.Now()
		}
		select {
		case <-s.wake:
		case <-late:
			s.spent.Waited(time.Since(began), false)
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// place is the name, in one run, of the lock that scenarios call name. It has the same length in every run, so that the
// bytes on the wire do not depend on the number of runs before.
func (s *Runner) place(name string) string { return fmt.Sprintf("%sr%06d.%s", s.prefix, s.runs, name) }

// supports reports whether the clients offer an operation.
func (s *Runner) supports(op lock.Op) bool {
	return slices.Contains(s.About().Operations, op)
}

// Playable removes from a scenario what the target's clients don't offer, and the options of the reference, which external
// clients cannot choose.
func (s *Runner) Playable(sc scenario.Scenario) scenario.Scenario {
	sc.Target, sc.Server = s.target(), s.config.Server
	sc.Options = lock.DefaultsOf(sc.Server)
	sc.Locks = s.nameable(sc.Locks)
	n := len(sc.Clients)
	if !s.holdsTwo || s.Sharing() { // clients that are one process with another come last
		for n > 0 && sc.Clients[n-1].With > 0 {
			n--
		}
	}
	clients := make([]scenario.Client, n)
	for i, c := range sc.Clients[:n] {
		clients[i] = scenario.Client{Lock: c.Lock, With: c.With, Ops: s.offered(c.Ops, &sc.Locks[c.Lock])}
	}
	sc.Clients = clients
	sc.Faults = slices.DeleteFunc(slices.Clone(sc.Faults), func(f scenario.Fault) bool {
		return !s.playable(f.Do) || int(f.Client) > n || f.Do == scenario.Advance && f.Arg == 0 && !s.about.Waits && !s.tellsTime()
	})
	for i := range sc.Faults {
		if f := &sc.Faults[i]; f.Do == scenario.Drop && f.Arg == 0 { // which of its connections
			f.Arg, f.Delay = uint32(f.Delay), 0
		}
	}
	return sc
}

// offered are the operations of ops on lock l that the clients offer and that do not end the clients.
func (s *Runner) offered(ops []scenario.Operation, l *scenario.Lock) (all []scenario.Operation) {
	for _, op := range ops {
		if s.supports(op.Op) && !(s.fragile && op.Op == lock.Release && op.Arg == scenario.Anyway) {
			all = append(all, s.acquiring(op, l))
		}
	}
	return all
}

// acquiring is operation op on lock l as clients are told of it. An acquire has its limit, or is one that waits, if clients
// support that.
func (s *Runner) acquiring(op scenario.Operation, l *scenario.Lock) scenario.Operation {
	if !s.about.shares() {
		op.Share = 0
	}
	switch {
	case op.Op != lock.Acquire:
	case s.about.Limits && op.Arg == 0: // the limit of all
		op.Arg = max(1, l.Slots)
	case !s.about.Limits && !s.about.Waits:
		op.Arg = 0
	}
	return op
}

// target is the name of the target.
func (s *Runner) target() string {
	if s.config.Name != "" {
		return s.config.Name
	}
	return s.About().Name
}
