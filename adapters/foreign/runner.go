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

// Config says whose clients run, and how patient one is with them. Starter and Open must be given.
type Config struct {
	Starter Starter
	Kind    lock.Kind
	Options map[string]any // the target's own, handed to every client
	// Open opens the server that stands behind the gate. It is called again for clients that begin anew.
	Open func() (gate.Server, error)
	// Server is the kind of that server, as scenarios name it; "" is AMQP.
	Server string
	Name   string // of the target, in reports; "" is what its clients call themselves
	// Names are those that scenarios give to locks: where the target refuses one, another takes its place.
	Names []string
	// Own are users' own properties, which are judged as well.
	Own own.List
	// FailedAcquire is what a failed acquire is taken to promise.
	FailedAcquire property.FailedAcquire
	// Holding is how the server shows who holds a lock, if that is declared.
	Holding holding.Declared
	// Timing is how long is waited for clients.
	Timing
	// Costs adds up what operations took; nil adds nothing.
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
	prefix       string          // of the names of all queues
	handles      []*clientHandle // by number; 0 is the setup client, who sets up, tidies up and audits
	auditors     []*clientHandle // who else audits
	about        About
	runs         int
	since        time.Duration // how long the server's clock has gone on
	uncontrolled Uncontrolled  // of the run at hand
	burst        time.Duration
	bound        int // of steps
	agreed       int // replies of servers before this one, see Agreed
	spent        Spent
	held         bool // somebody was shown to hold a lock by what is declared
	// fallen is how a client ended by itself in a call outside of a run, until a run tells of it.
	fallen error
	// cutShort says that a run was not brought to its end: whoever took part in it may still be in its midst.
	cutShort bool
}

// calls are those that are under way.
type calls struct {
	ctx   context.Context // of all of them
	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// tried is what was seen of clients before the first run: see try.
type tried struct {
	alike    bool            // slots have no numbers
	names    map[string]bool // of locks that were tried, and whether the target takes them
	holdsTwo bool            // a client can hold two locks at once
	fragile  bool            // a release of what is not held ends its client
}

// patience is how long clients are waited for that may not come.
type patience struct {
	// lenience is how long operations may take to come to their end after a scenario that left them in
	// their midst: less and less, where they don't.
	lenience  time.Duration
	inVain    int // how often a client was waited for that may give up waiting for a late reply, and did not
	outwaited int // the same of clients whose time is up
}

// staff is who stands ready to take the place of clients that crash.
type staff struct {
	spares    []*spare
	crashes   bool   // clients do, in scenarios
	exploring bool   // their crashes are in nearly every execution, if clients crash
	audits    audits // that an exploration has seen; nil sees each
}

// passing is what the gate knows, under mu. wake says that it has changed.
type passing struct {
	mu          sync.Mutex
	wake        chan struct{}
	open        bool // everything passes
	connections map[gate.Conn]*connection
	step        exchange // the command that passes
	onCommands  func(gate.Command)
	excess      error // of a client that took more than it may, or speaks another protocol; nil while none did
}

// mostConnections is how many connections a client may have at once.
const mostConnections = 256

// NewRunner starts the first clients, and looks whether they do what is to be seen of a lock at all.
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

// start starts the first clients and has them use a lock.
func (s *Runner) start(ctx context.Context) error {
	s.mu.Lock()
	s.excess = nil
	s.mu.Unlock()
	err := s.startClients(ctx, 1) // whether clients share a connection is seen when there are two
	if err == nil {
		err = s.try(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.excess != nil { // what the client says of it is of no use
		return s.excess
	}
	if _, unseen := s.server.(gate.Unseen); unseen && err == nil && s.about.Leases {
		return errLeases
	}
	return err
}

// errLeases is the error of leases that nobody can have end.
var errLeases = errors.New(`the locks have leases ("leases":true), and nothing is known of the server's time: leave leases out, and use some that last longer than a run`)

// Renew ends all clients and starts new ones with a broker of their own, as [NewRunner] does: nothing that was
// done before reaches the runs to come.
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

// Asides say how the target was seen to answer what says little of it.
func (s *Runner) Asides() (said []string) {
	if s.config.Kind == lock.Semaphore && s.alike {
		said = append(said, "slots have no numbers, or all the same: how many hold the lock is counted")
	}
	if s.fragile {
		said = append(said, "a release of what is not held ends the client")
	}
	return said
}

// About is what the clients say of themselves.
func (s *Runner) About() About { return s.about }

// Measure has the runs to come tell which commands were written in one go. They wait so long for more commands before a
// message passes that is to be confirmed; 0 is not at all. The cost of operations is judged in such runs alone. On a busy
// machine commands take their time, so what seems to cost too much after a [SettleBriefly] deserves a [SettleLong].
func (s *Runner) Measure(burst time.Duration) { s.burst = burst }

// Bound has the runs to come end after so many steps, whatever is left to do; 0 is [scenario.Scenario.StepLimit].
func (s *Runner) Bound(steps int) { s.bound = steps }

// How long to look for what was written right behind a message.
const (
	SettleBriefly = 2 * time.Millisecond
	Settle        = 10 * time.Millisecond
	SettleLong    = 40 * time.Millisecond
)

// Close ends all clients, and the broker or what they have left on it.
func (s *Runner) Close() error {
	err := s.shutDown()
	s.stop()
	s.tasks.Wait()
	return err
}

// shutDown ends all clients and clears the broker. A client that may be in the midst of a run is killed.
func (s *Runner) shutDown() error {
	if !s.cutShort { // saying goodbye may take commands
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

// startClients sees that there is a client of each number up to n, connected and idle.
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

// startAuditors sees that there are so many clients that audit, beside the one that sets up.
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

// newHandle is a client by number, whom nobody plays yet.
func (s *Runner) newHandle(number int) (*clientHandle, error) {
	a := &clientHandle{runner: s, number: number}
	a.host = a
	address, err := s.listenFor(&door{runner: s, client: a})
	a.address = address
	return a, err
}

// everybody is all clients.
func (s *Runner) everybody() []*clientHandle { return slices.Concat(s.handles, s.auditors) }

// listenFor is an address at which a client finds the server.
func (s *Runner) listenFor(d *door) (gate.Address, error) {
	return s.server.Listen(d, gate.Limits{Connections: mostConnections, Handshake: StartLimit})
}

// listen has somebody told what passes while the gate is open.
func (s *Runner) listen(told func(gate.Command)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCommands = told
}

// Spent is what the time of the runner went into so far.
func (s *Runner) Spent() Spent { return s.spent }

// counts is what has gone over the connections of all clients.
func (s *Runner) counts() (sum gate.Counts) {
	for _, a := range s.handles {
		counts := a.address.Counts()
		sum.Add(&counts)
	}
	return sum
}

// notify says that something has changed.
func (s *Runner) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// openGate opens or closes the gate. Commands that wait there when it opens pass.
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

// wait waits until a condition holds, which is looked at under mu whenever something has changed. It is
// false if that takes longer than it may, and an error where a client has taken more than it may.
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

// place is the name, in one run, of a lock of scenario.Scenario. It is equally long in each run, so that the bytes on the
// wire do not depend on how many runs there were before.
func (s *Runner) place(name string) string { return fmt.Sprintf("%sr%06d.%s", s.prefix, s.runs, name) }

// supports reports whether the clients offer an operation.
func (s *Runner) supports(op lock.Op) bool {
	return slices.Contains(s.About().Operations, op)
}

// Playable leaves out of a scenario what the target's clients don't offer, and what is not for them to
// choose: the reference's options.
func (s *Runner) Playable(sc scenario.Scenario) scenario.Scenario {
	sc.Target, sc.Server = s.target(), s.config.Server
	sc.Options = lock.DefaultsOf(sc.Server)
	sc.Locks = s.nameable(sc.Locks)
	n := len(sc.Clients)
	if !s.holdsTwo || s.Sharing() { // those who are one process with others are the last ones
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

// offered are those of some operations on a lock that the clients offer, and do not end by.
func (s *Runner) offered(ops []scenario.Operation, l *scenario.Lock) (all []scenario.Operation) {
	for _, op := range ops {
		if s.supports(op.Op) && !(s.fragile && op.Op == lock.Release && op.Arg == scenario.Anyway) {
			all = append(all, s.acquiring(op, l))
		}
	}
	return all
}

// acquiring is an operation on a lock as its clients are to be told of it. An acquire has its limit, or is one that waits,
// if clients are told such things.
func (s *Runner) acquiring(op scenario.Operation, l *scenario.Lock) scenario.Operation {
	if !s.about.shares() {
		op.Share = 0
	}
	switch {
	case op.Op != lock.Acquire:
	case s.about.Limits && op.Arg == 0: // that of all
		op.Arg = max(1, l.Slots)
	case !s.about.Limits && !s.about.Waits:
		op.Arg = 0
	}
	return op
}

// target is what the target is called.
func (s *Runner) target() string {
	if s.config.Name != "" {
		return s.config.Name
	}
	return s.About().Name
}
