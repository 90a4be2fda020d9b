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

// Config configures a [Runner]: its clients, its server, and how long to wait. Starter and Open are required.
type Config struct {
	Starter Starter
	Kind    lock.Kind
	Options map[string]any // options of the target, given to every client
	// Open opens the server behind the gate. It is called again when clients are replaced by [Runner.Renew].
	Open func() (gate.Server, error)
	// Server is the kind of server, as in scenarios; "" means AMQP.
	Server string
	Name   string // name of the target in reports; "" means the name that its clients give
	// Names are the names of locks that scenarios may use. If the target refuses a name, another one is used instead.
	Names []string
	// Own are custom properties to be judged as well.
	Own own.List
	// FailedAcquire says what a failed acquire promises: see [property.FailedAcquire].
	FailedAcquire property.FailedAcquire
	// Holding declares what on the server holds a lock, for example the owner of a queue. The zero value declares
	// nothing.
	Holding holding.Declared
	// Timing says how long the runner waits for clients.
	Timing
	// Costs receives the costs of operations; nil drops them.
	Costs *monitor.Costs
	// Checks counts how often each property was tested; nil drops the counts.
	Checks *monitor.Counts
}

// Runner runs scenarios on an external lock, one after the other, with the same clients. Its methods must not be called
// concurrently.
type Runner struct {
	calls
	tried
	patience
	staff
	passing

	config       Config
	server       gate.Server
	prefix       string          // prefix of the names of all queues
	handles      []*clientHandle // by number; 0 is the setup client: it creates and deletes locks, and audits
	auditors     []*clientHandle // clients that audit in addition to the setup client
	about        About
	runs         int
	since        time.Duration // time since the server's clock began
	uncontrolled Uncontrolled  // counts of the current run
	burst        time.Duration
	bound        int // maximum number of steps of a run; 0 means the scenario's limit
	agreed       int // number of agreed replies of earlier servers; see Agreed
	spent        Spent
	held         bool // the server has shown a holder of a lock, according to the declaration
	// fallen is the error of a client that ended by itself outside of a run. The next run reports it.
	fallen error
	// cutShort says that the last run was ended early, so that its clients may still have operations under way.
	cutShort bool
}

// calls is the context of all calls of clients, and their goroutines.
type calls struct {
	ctx   context.Context // context of all calls
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// tried is what the first attempts have shown of the target: see try.
type tried struct {
	alike    bool            // slots have no numbers, or all the same one
	names    map[string]bool // maps names of locks that were tried to whether the target accepts them
	holdsTwo bool            // a client can hold two locks at once
	fragile  bool            // a needless release ends the client
}

// patience limits how long the runner waits for clients that may send nothing.
type patience struct {
	// lenience is how long operations under way at the end of a scenario may take. It shrinks each time one does not
	// end.
	lenience  time.Duration
	inVain    int // number of waits without result for clients with a late reply
	outwaited int // number of waits without result for clients whose waiting time has ended
}

// staff describes the clients that are prepared to replace those that crash.
type staff struct {
	spares    []*spare
	crashes   bool   // whether scenarios have crashes
	exploring bool   // whether an exploration is running: if it has crashes, nearly every execution has one
	audits    audits // situations that were audited already; nil means that every execution is audited
}

// passing is the state of the gate, where clients' commands wait, guarded by mu. wake signals a change.
type passing struct {
	mu          sync.Mutex
	wake        chan struct{}
	open        bool // whether every command passes at once
	connections map[gate.Conn]*connection
	step        exchange // command of the current step, and its answer
	onCommands  func(gate.Command)
	excess      error // error of a client that exceeded a bound or speaks another protocol; nil if none
}

// mostConnections is the maximum number of a client's simultaneous connections.
const mostConnections = 256

// NewRunner starts the first clients and lets them use a lock. It returns an error if their commands do not arrive at
// the gate.
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
	err := s.startClients(ctx, 1) // two clients show whether clients share a connection
	if err == nil {
		err = s.try(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.excess != nil { // explains more than the client's own error
		return s.excess
	}
	if _, unseen := s.server.(gate.Unseen); unseen && err == nil && s.about.Leases {
		return errLeases
	}
	return err
}

// errLeases is the error for locks with leases on a server without virtual time, on which the end of a lease is
// unknown.
var errLeases = errors.New(`the locks have leases ("leases":true), and nothing is known of the server's time: leave leases out, and use some that last longer than a run`)

// Renew ends all clients and the server, and starts new ones as [NewRunner] does. Later runs are then independent of
// earlier ones.
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

// Numberless reports whether slots cannot be told apart: they have no numbers, or are limits that callers state.
func (s *Runner) Numberless() bool { return s.alike }

// Asides are remarks about the target for reports, for example that its slots have no numbers.
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

// Measure lets later runs find out which commands were written together. A message that needs a confirm waits at the
// gate for burst, in case more commands follow; 0 turns this off. Costs are judged only in such runs. On a busy machine
// commands may be late, so a high cost found with [SettleBriefly] should be checked again with [SettleLong].
func (s *Runner) Measure(burst time.Duration) { s.burst = burst }

// Bound limits later runs to the given number of steps; 0 means [scenario.Scenario.StepLimit].
func (s *Runner) Bound(steps int) { s.bound = steps }

// Times to wait for commands that were written together with a message, for [Runner.Measure].
const (
	SettleBriefly = 2 * time.Millisecond
	Settle        = 10 * time.Millisecond
	SettleLong    = 40 * time.Millisecond
)

// Close ends all clients and the server. On a server that others use, it removes what the clients have left.
func (s *Runner) Close() error {
	err := s.shutDown()
	s.stop()
	s.tasks.Wait()
	return err
}

// shutDown ends all clients and the server. Clients that may have an operation under way are killed.
func (s *Runner) shutDown() error {
	if !s.cutShort { // closing a connection properly may send commands
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

// startAuditors ensures that there are n clients that audit, in addition to the setup client.
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

// newHandle is a handle for the client with the given number. The client is not started yet.
func (s *Runner) newHandle(number int) (*clientHandle, error) {
	a := &clientHandle{runner: s, number: number}
	a.host = a
	address, err := s.listenFor(&door{runner: s, client: a})
	a.address = address
	return a, err
}

// everybody is the handles of all clients, also of those that audit.
func (s *Runner) everybody() []*clientHandle { return slices.Concat(s.handles, s.auditors) }

// listenFor opens an address at which the client of door d reaches the server.
func (s *Runner) listenFor(d *door) (gate.Address, error) {
	return s.server.Listen(d, gate.Limits{Connections: mostConnections, Handshake: StartLimit})
}

// listen calls told with each command that passes while the gate is open; nil ends that.
func (s *Runner) listen(told func(gate.Command)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCommands = told
}

// Spent says how the runner's time was spent so far.
func (s *Runner) Spent() Spent { return s.spent }

// counts is the total traffic of all clients that do not only audit.
func (s *Runner) counts() (sum gate.Counts) {
	for _, a := range s.handles {
		counts := a.address.Counts()
		sum.Add(&counts)
	}
	return sum
}

// notify signals wake that the state of the gate has changed.
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

// wait waits until holds returns true, for at most limit. It calls holds with mu held whenever something has changed.
// It returns false after limit. The error says that a client exceeded a bound, or that ctx is done.
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

// place is the name that clients use in the current run for the lock that scenarios call name. Its length does not
// depend on the run, so that the traffic does not either.
func (s *Runner) place(name string) string { return fmt.Sprintf("%sr%06d.%s", s.prefix, s.runs, name) }

// supports reports whether the clients offer an operation.
func (s *Runner) supports(op lock.Op) bool {
	return slices.Contains(s.About().Operations, op)
}

// Playable removes from a scenario what the target's clients do not offer, and the options of reference locks.
func (s *Runner) Playable(sc scenario.Scenario) scenario.Scenario {
	sc.Target, sc.Server = s.target(), s.config.Server
	sc.Options = lock.DefaultsOf(sc.Server)
	sc.Locks = s.nameable(sc.Locks)
	n := len(sc.Clients)
	if !s.holdsTwo || s.Sharing() { // remove clients that are one process with another; they come last
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
		// If a drop has no argument, its delay becomes the argument, which selects the connection to drop.
		if f := &sc.Faults[i]; f.Do == scenario.Drop && f.Arg == 0 {
			f.Arg, f.Delay = uint32(f.Delay), 0
		}
	}
	return sc
}

// offered are those of the operations ops on lock l that the clients offer and that do not end them.
func (s *Runner) offered(ops []scenario.Operation, l *scenario.Lock) (all []scenario.Operation) {
	for _, op := range ops {
		if s.supports(op.Op) && !(s.fragile && op.Op == lock.Release && op.Arg == scenario.Anyway) {
			all = append(all, s.acquiring(op, l))
		}
	}
	return all
}

// acquiring adapts operation op on lock l to what clients support. An acquire may state a limit, or wait, only if they
// do.
func (s *Runner) acquiring(op scenario.Operation, l *scenario.Lock) scenario.Operation {
	if !s.about.shares() {
		op.Share = 0
	}
	switch {
	case op.Op != lock.Acquire:
	case s.about.Limits && op.Arg == 0: // no limit given, so the number of slots
		op.Arg = max(1, l.Slots)
	case !s.about.Limits && !s.about.Waits:
		op.Arg = 0
	}
	return op
}

// target is the name of the target: Config.Name, or else the name that its clients give.
func (s *Runner) target() string {
	if s.config.Name != "" {
		return s.config.Name
	}
	return s.About().Name
}
