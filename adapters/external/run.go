package external

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/beliefs"
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
	// Undecided says why linearizability of the history was not decided, "" where it was: it was too large, or is none.
	Undecided    string
	Sent, Called int // commands, operations
	// Overlap is how long a stale belief stood beside another's, in virtual milliseconds, and Overlaps
	// the same in commands.
	Overlap  int64
	Overlaps int32
	// Kept says that an exclusive queue stayed behind a channel that the broker had closed unasked: see [monitor.Monitor.Robbed].
	Kept bool
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
	ctx          context.Context
	sc           *scenario.Scenario
	design       recognise.Design // of the scenario's locks
	names        *nameTable
	here         string                // what lock names begin with in this run
	called       []string              // the real names of queues that are known by design
	queues       map[string]amqp.Queue // which of them has a real name
	before       map[string]bool       // the queues that there were before it
	wire         wire.Counts           // what had gone over the clients' connections before it, then in it
	traffic      Traffic
	aliases      map[string]string // of queues whose names don't tell whose they are
	clients      []clientState
	halfOpen     []*connection
	disconnected []*wire.Conn // whose end the broker has yet to see
	now          int64        // virtual milliseconds
	truth        [lock.MaxLocks]monitor.Truth
	monitor      monitor.Monitor
	record       record
	owners       [lock.MaxLocks][monitor.Slots + 1]owner // who has a slot, or had it last
	filled       [lock.MaxLocks]uint16                   // the slots for which there has been a message
	unsettled    [lock.MaxLocks]uint16                   // slots that were made by what is not over, or did not end well
	unended      [lock.MaxLocks]uint16                   // the administrative operations, as bits, that did not end well since one has
	used         int                                     // commands that were carried out, or discarded
	permits      [lock.MaxLocks]permits                  // of slots that are messages without numbers
	tokens       [lock.MaxLocks]tokens
	mover        uint8 // whose command may have changed what the broker has; 0 is nobody's
	shared       bool  // the connection, by all
	several      bool  // a client had connections at once
	// resigned says that somebody gave up waiting for a reply: what the history says of that is not all that happened.
	resigned  bool
	paired    bool // two clients are one process
	restarted bool // the broker was
	belated   belated
	// disagreement is [Execution.Disagreement].
	disagreement string
}

// clientState is a client in a run.
type clientState struct {
	*clientHandle
	id          uint8 // its number in the scenario: that of its handle is another one, where two are one process
	next        int   // index of its next operation
	called      int
	sent        uint16      // how many commands of it have passed
	acquires    int         // that it has called
	overtime    int         // how many of its operation have passed since its time was up
	changes     uint16      // how many of them may have changed what the broker has
	weight      uint16      // the same as sent, without those that do not count; see SentBy
	counted     int         // how many of its operation count
	held        uint8       // the slot that it believes to hold
	grant       *connection // the connection under which it was granted that
	grantedBy   uint16      // the channel, where that makes a difference
	untold      owner       // the channel that has ended during its acquire, while nothing has been answered there since
	untoldOf    uint16      // the slots that it had by that
	incarnation int32       // connections so far
	worked      int32       // the session of the connection that it worked on in its last operation
	process     int32       // that of the operation at hand, or of the last one
	invoked     int         // index of the event that invoked it
	op          lock.Op
	arg         uint8
	busy        bool
	dead        bool
	diedIn      lock.Op // the operation in whose midst it died
	troubled    bool    // something went wrong with its connection since the operation began
	stale       bool    // its connection was lost, not by its own doing, since it was granted what it holds
	struck      bool    // something has befallen its process since it was granted what it holds
	cutOff      bool    // a connection was taken from it since the operation began
	severed     bool    // one was, and it has opened none since
	bereft      bool    // what it held went with it
	deadEnds    int     // how many acquires of it have failed since, while it has still opened none
	forsaken    bool    // and so may the one at hand: by itself it opens none
	unaware     bool    // a channel was closed under a command of a release that has no answer: the next operation meets that
	shifted     bool    // a connection or channel of its ended, however, since it last began to acquire
	existed     uint16  // the slots that there were when it was called to make some, or that somebody has had since
	refused     bool    // a claim met RESOURCE_LOCKED or ACCESS_REFUSED, or an acquire PRECONDITION_FAILED of what somebody has
	denied      bool    // a channel was closed for how it claimed what nobody had
	vanished    bool    // what it used in the operation was not there any more
	met         bool    // another counted or administered the lock during the operation, which may have been in its way
	contested   bool    // another acquired the lock during the acquire
	claimed     uint8   // the slot whose holder's queue the operation declared last
	withdrawn   uint8   // the slot that it gave back again
	broken      int     // channels that the broker has closed, and that it has opened none for
	owed        int     // those of them that it has not opened one for since before the operation
	wake        int64
	asked       int64            // when its operation was called, by the broker's clock
	needless    bool             // the operation releases what is not held
	token       int64            // that came with what it was granted last
	fence       beliefs.Fenced   // what tokens had been told when it called the operation
	unsure      bool             // its last acquire has no answer, so that it may hold something
	stalledIn   bool             // a reply came late in the operation
	alone       int              // how many events there were when it began to acquire, alone with a lock that is yet to be made; else 0
	ranOut      bool             // its time was up while a command of it was at the gate
	forgetful   bool             // an acquire of its was told no since one had no answer
	gaveUp      bool             // its last acquire has given up waiting for a reply
	upset       bool             // a release of what it did not hold ended badly: what it does next may fail for that
	since       map[lock.Op]bool // the administrative operations on its lock that were under way or began since it began to acquire
	said        uint8            // what it called the slot that it was granted last
	tail        *wire.Command    // the last one that has to pass before its operation is over
	trailed     int              // how often that was another one
	unheard     *wire.Command    // the last one that it has sent, of which it never gets the reply: its connection is gone
	before      wire.Counts      // what had gone over its connections when the operation began, in measured runs
}

// Run plays a scenario. The error is for a run that could not be made; see [Client.Call].
func (s *Runner) Run(ctx context.Context, sc *scenario.Scenario) (*Execution, error) {
	play := func() (*Execution, error) {
		var plan scenario.Plan
		plan.Reset(sc)
		return s.play(ctx, sc, &plan)
	}
	x, err := play()
	if err != nil {
		return nil, err
	}
	return s.unlessRenewed(ctx, x, play)
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
	s.gate(false)
	over, err := r.tellFallen(), error(nil)
	if over { // without its locks there is nothing to carry out
		over, err = r.loop(choose)
	}
	r.metered()
	if err != nil { // nobody goes on from here
		return nil, err
	}
	if over && !r.busied() {
		r.audit()
		r.keptUnknown()
	}
	if err := s.spent.Reset(func() error { return r.end(over) }); err != nil {
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
	handles := handlesOf(sc)
	if err := s.startClients(ctx, slices.Max(handles)); err != nil {
		return nil, err
	}
	s.runs++
	s.uncontrolled, s.unrenewed = Uncontrolled{}, false
	r := &run{Runner: s, ctx: ctx, sc: sc, design: s.designOf(sc.Locks), names: s.names(sc.Locks), here: s.place(""), shared: s.Sharing(), aliases: make(map[string]string), traffic: make(Traffic)}
	r.called, r.queues = r.names.realNames(r.here)
	r.before = s.there()
	r.clients = make([]clientState, len(sc.Clients))
	s.mu.Lock()
	for i := range r.clients {
		r.clients[i] = r.enter(uint8(i+1), r.handles[handles[i]])
	}
	s.mu.Unlock()
	for i := range r.clients {
		r.several = r.several || !r.shared && len(r.open(&r.clients[i])) > 1
		r.paired = r.paired || sc.Clients[i].With > 0
	}
	if err := r.createAll(); err != nil {
		return nil, err
	}
	if err := r.clear(); err != nil {
		return nil, err
	}
	r.watch()
	r.exchange()
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
	return r.takeAway()
}

// takeAway deletes the slots that are missing where a lock begins with holes: all up to the last one were made.
func (r *run) takeAway() error {
	if r.sc.HistoryTells() {
		return nil
	}
	there := r.there()
	for i, l := range r.sc.Locks {
		var queues []string
		for _, slot := range l.Missing.Slots() {
			q := r.names.layouts[i].a[slot]
			if q == 0 || int(q) >= len(r.called) || !there[r.called[q]] {
				return fmt.Errorf("beginning with slots %s: expected a queue for each, and which queue slot %d is, is not known; "+
					"begin with slots from 1 on", l.Existing(), slot)
			}
			queues = append(queues, r.called[q])
		}
		if err := r.broker.remove(queues); err != nil {
			return fmt.Errorf("beginning with slots %s: %w", l.Existing(), err)
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
func (r *run) enter(c uint8, a *clientHandle) clientState {
	p := clientState{clientHandle: a, id: c, process: r.processOf(c, 1), worked: 1}
	p.late, p.raced = 0, 0
	if r.shared && p.host != p.clientHandle {
		p.current = p.host.current
		return p
	}
	if l := p.current; l != nil {
		p.incarnation, l.channels = 1, l.channels[:0]
	}
	for _, l := range p.connections { // several are one to histories
		if l.opened {
			l.incarnation = 1
		}
	}
	return p
}
