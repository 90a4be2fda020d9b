package sim_test

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// The first example of a backend (README.md): a server that stores, for each lock, its holder and the queue of
// waiting sessions, and a bit that says whether any session waits. Its commands:
//
//	open     opens a session
//	lock     takes the lock, or waits inside the server until it is free
//	ask      reports whether the session has it
//	unlock   gives it up; the session that has waited longest gets it
//	renew    renews the lease to its full length; it is sent beside the client's operations, once for each hold
//
// A hold has a lease. A session whose lease ends is over, and an unsolicited message tells its client.
const (
	toyOpen uint8 = iota + 1
	toyLock
	toyAsk
	toyUnlock
	toyRenew
	toyLost // the message that a session has ended
)

var toyWords = [...]string{"", "open", "lock", "ask", "unlock", "renew", "lost"}

// These are the links beside a client's operation: renewing the lease, and receiving the message.
const (
	toyRenewing = iota + 1
	toyTold
)

// toyOptions are the options of locks on the toy server.
type toyOptions struct {
	Lease int // length of a lease in milliseconds
}

// Check implements [lock.Settings]: it refuses a lease of 0.
func (o toyOptions) Check() error {
	if o.Lease == 0 {
		return errors.New("lease 0: expected at least a millisecond")
	}
	return nil
}

// Facts implements [lock.Settings]. The zero facts say that an acquire tries once and that each client has its own
// session.
func (o toyOptions) Facts() lock.Facts { return lock.Facts{} }

var toyTable = lock.NewTable("toy", toyOptions{Lease: 12},
	lock.Number("lease", "how long a lease is, in milliseconds", 1000, func(o *toyOptions) *int { return &o.Lease }))

// These are the reference lock and two locks with a bug. toyImpatient believes that it has the lock while it still
// waits for it. toyCredulous verifies without asking the server.
var (
	toyReference = &lock.Target{Name: "toy", Kind: lock.Mutex, Backend: "toy"}
	toyImpatient = &lock.Target{Name: "toy-impatient", Kind: lock.Mutex, Backend: "toy", Breaks: "mutual-exclusion"}
	toyCredulous = &lock.Target{Name: "toy-credulous", Kind: lock.Mutex, Backend: "toy", Breaks: "stale-belief-ends"}
)

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{
			Name: "toy", Title: "the toy server", Defaults: toyTable.Defaults(),
			References: []*lock.Target{toyReference}, Mutants: []*lock.Target{toyImpatient, toyCredulous},
			Skips: map[string]string{"minimal-driver": "its commands are its own: no driver has fewer"},
		},
		New:   func() sim.Cluster { return new(toy) },
		Links: true,
		Options: func(d sim.Draws, fix func(lock.Options) lock.Options) lock.Options {
			return fix(toyTable.Options(toyOptions{Lease: 12 + 4*d.Bits(1)}))
		},
	})
}

// toy is the cluster of this backend: the clients' machines and the toy server.
type toy struct {
	sim.Plain
	target   *lock.Target
	scenario *scenario.Scenario
	options  toyOptions
	owner    func(backend.Session) uint8
	clients  []toyClient
	sessions []toySession // index: the session's number minus 1
	ended    []backend.Session
	last     [2]string
}

// toyClient is the machine of one client.
type toyClient struct {
	op      lock.Op
	result  lock.Result
	linked  bool
	held    uint8
	renewed bool
	waiting bool
	told    bool            // a message that its session ended has arrived
	on      backend.Session // session on which the client's command waits
	reply   backend.Result  // reply to the client's last command; Blocked while the command waits
	sent    uint8
}

// toySession is what the server stores about a session.
type toySession struct {
	alive bool
	holds bool
	lock  uint8
	place uint8 // position in the queue of waiting sessions; 0 if the session does not wait
	left  int64 // milliseconds of the lease left, if the session holds the lock
}

func (k *toy) at(on backend.Session) *toySession {
	for int(on) > len(k.sessions) {
		k.sessions = append(k.sessions, toySession{})
	}
	return &k.sessions[on-1]
}

func (k *toy) Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8) {
	*k = toy{target: t, scenario: s, options: toyTable.Of(o), owner: owner, clients: make([]toyClient, len(s.Clients))}
}

func (k *toy) SetUp(said func(backend.Exchange)) {
	k.last = [2]string{"create", "ok"}
	said(backend.Exchange{Method: toyOpen})
}

// The machine of a client: its commands, and how it handles replies.

func (k *toy) Start(c uint8, op lock.Op, _ uint8) {
	m := &k.clients[c-1]
	m.op, m.result, m.sent = op, lock.Result{}, toyOpen
	switch {
	case op == lock.Connect, !m.linked:
	case op == lock.Acquire:
		m.sent = toyLock
	case op == lock.Release:
		m.sent = toyUnlock
	case k.target == toyCredulous:
		m.result = lock.Result{Outcome: lock.Done, Held: true, Slot: 1}
	default:
		m.sent = toyAsk
	}
	if op == lock.Release {
		m.held = 0
	}
}

func (k *toy) Reply(c uint8) {
	m := &k.clients[c-1]
	if m.waiting && k.target == toyImpatient {
		m.reply = backend.Done
	}
	m.waiting = false
	switch {
	case m.reply == backend.Ended:
		k.Lose(c)
	case m.sent == toyOpen:
		m.linked = true
		m.result.Outcome = lock.Done
		if m.op == lock.Acquire {
			k.Start(c, lock.Acquire, 0)
		}
	case m.op == lock.Acquire:
		m.held, m.renewed, m.result = 1, false, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}
	case m.op == lock.Verify:
		m.result = lock.Result{Outcome: lock.Done, Held: m.reply == backend.Done, Slot: 1}
		if !m.result.Held {
			m.held, m.result.Reason = 0, lock.Disconnected
		}
	default:
		m.result = lock.Result{Outcome: lock.Done, Slot: 1}
	}
}

func (k *toy) Lose(c uint8) {
	m := &k.clients[c-1]
	m.linked, m.held, m.waiting = false, 0, false
	m.result = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut, Slot: 1}
	if m.op == lock.Verify {
		m.result = lock.Result{Outcome: lock.Done, Reason: lock.Disconnected, Slot: 1}
	}
}

func (k *toy) Op(c uint8) lock.Op { return k.clients[c-1].op }
func (k *toy) Result(c uint8) (lock.Result, bool) {
	r := k.clients[c-1].result
	return r, r.Outcome != lock.Pending
}
func (k *toy) Held(c uint8) uint8    { return k.clients[c-1].held }
func (k *toy) Linked(c uint8) bool   { return k.clients[c-1].linked }
func (k *toy) Opens(c uint8) bool    { return k.clients[c-1].sent == toyOpen }
func (k *toy) Answered(c uint8) bool { return k.clients[c-1].waiting }

// Links returns the links that can take a step. An operation that waits continues after its reply has come. With the
// lock toyImpatient it continues at once.
func (k *toy) Links(c uint8) (set uint8) {
	m := &k.clients[c-1]
	if !m.waiting || m.reply != backend.Blocked || k.target == toyImpatient {
		set = 1
	}
	if m.held > 0 && !m.renewed {
		set |= 1 << toyRenewing
	}
	if m.told {
		set |= 1 << toyTold
	}
	return set
}

// The toy server: how it executes commands.

func (k *toy) Deliver(c uint8, on backend.Session) backend.Exchange {
	m := &k.clients[c-1]
	m.on, m.reply = on, backend.Done
	return k.apply(c, m.sent, on, &m.reply)
}

func (k *toy) apply(c, method uint8, on backend.Session, reply *backend.Result) backend.Exchange {
	l := uint8(k.scenario.Clients[c-1].Lock)
	x := backend.Exchange{Method: method, Role: backend.Mutex, Lock: l, Slot: 1, Known: true, RoundTrip: true, Waits: true, Minimal: true, Key: uint16(l) + 1}
	switch {
	case method == toyOpen:
		x.Access, x.Known, x.Key = backend.OpenSession, false, 0
	case on == 0 || !k.at(on).alive:
		*reply, x.Ended = backend.Ended, true
	case method == toyLock:
		x.Access = backend.Create
		*reply = k.enter(c, on, l)
	case method == toyAsk:
		x.Access = backend.Read
	case method == toyUnlock:
		x.Access = backend.Delete
	}
	switch s := k.session(on); {
	case method == toyOpen, method == toyLock, *reply == backend.Ended:
	case !s.holds:
		*reply = backend.Absent
	case method == toyUnlock:
		s.holds = false
		k.grant(l)
	case method == toyRenew:
		s.left = int64(k.options.Lease)
	}
	x.Result = *reply
	k.last = [2]string{toyWords[method], [...]string{backend.Done: "ok", backend.Absent: "no", backend.Ended: "session is over", backend.Blocked: "waits"}[x.Result]}
	return x
}

func (k *toy) session(on backend.Session) *toySession {
	if on == 0 {
		return &toySession{}
	}
	return k.at(on)
}

// enter lets a session take lock l, or puts it into the queue of waiting sessions.
func (k *toy) enter(c uint8, on backend.Session, l uint8) backend.Result {
	s, place := k.at(on), uint8(1)
	s.lock = l
	taken := false
	for i := range k.sessions {
		o := &k.sessions[i]
		if o.alive && o.lock == l {
			taken = taken || o.holds
			place = max(place, o.place+1)
		}
	}
	if !taken {
		s.holds, s.left = true, int64(k.options.Lease)
		return backend.Done
	}
	s.place = place
	k.clients[c-1].waiting = true
	return backend.Blocked
}

// grant gives a free lock to the session that has waited longest.
func (k *toy) grant(l uint8) {
	for i := range k.sessions {
		s := &k.sessions[i]
		if !s.alive || s.lock != l || s.place == 0 {
			continue
		}
		if s.place--; s.place == 0 {
			s.holds, s.left = true, int64(k.options.Lease)
			k.answer(backend.Session(i+1), backend.Done)
		}
	}
}

// answer gives the reply r to the client that waits on a session.
func (k *toy) answer(on backend.Session, r backend.Result) {
	for i := range k.clients {
		if m := &k.clients[i]; m.waiting && m.on == on && m.reply == backend.Blocked {
			m.reply = r
		}
	}
}

func (k *toy) Connect() backend.Session {
	for i := range k.sessions {
		if !k.sessions[i].alive {
			k.sessions[i] = toySession{alive: true}
			return backend.Session(i + 1)
		}
	}
	k.sessions = append(k.sessions, toySession{alive: true})
	return backend.Session(len(k.sessions))
}

func (k *toy) End(on backend.Session) {
	s := k.at(on)
	if !s.alive {
		return
	}
	was := *s
	*s = toySession{}
	k.answer(on, backend.Ended)
	switch {
	case was.holds:
		k.grant(was.lock)
	case was.place > 0:
		for i := range k.sessions {
			if o := &k.sessions[i]; o.alive && o.lock == was.lock && o.place > was.place {
				o.place--
			}
		}
	}
}

func (k *toy) Restart() {
	for i := range k.sessions {
		k.sessions[i] = toySession{}
		k.answer(backend.Session(i+1), backend.Ended)
	}
}

func (k *toy) Advance(ms int64) (passed int64, changed bool) {
	for passed < ms && len(k.ended) == 0 {
		passed++
		for i := range k.sessions {
			if s := &k.sessions[i]; s.holds {
				s.left--
			}
		}
		for i := range k.sessions { // a session that gets the lock in this loop has the whole lease
			s := &k.sessions[i]
			if !s.holds || s.left > 0 {
				continue
			}
			on := backend.Session(i + 1)
			if c := k.owner(on); c > 0 && c&monitor.HalfOpen == 0 {
				k.clients[c-1].told = k.clients[c-1].held > 0
			}
			k.ended = append(k.ended, on)
			k.End(on)
		}
	}
	return passed, len(k.ended) > 0
}

func (k *toy) Expired(buf []backend.Session) []backend.Session {
	buf = append(buf, k.ended...)
	k.ended = k.ended[:0]
	return buf
}

func (k *toy) NextTimer() (next int64, any bool) {
	for i := range k.sessions {
		if s := &k.sessions[i]; s.holds && (!any || s.left < next) {
			next, any = s.left, true
		}
	}
	return next, any
}

// Act takes a step beside the operation: it renews the lease, or receives the message that the session has ended.
func (k *toy) Act(c, link uint8, on backend.Session) backend.Exchange {
	m := &k.clients[c-1]
	if link == toyTold {
		m.told = false
		if m.linked && on == 0 {
			m.linked, m.held = false, 0
		}
		k.last = [2]string{"", "lost"}
		return backend.Exchange{Method: toyLost, Unasked: true}
	}
	m.renewed = true
	var reply backend.Result
	return k.apply(c, toyRenew, on, &reply)
}

func (k *toy) Truth(l uint8, t *monitor.Truth) {
	*t = monitor.Truth{Exists: 1 << 1}
	for i := range k.sessions {
		if s := &k.sessions[i]; s.holds && s.lock == l {
			t.Taken, t.Owner[1] = 1<<1, k.owner(backend.Session(i+1))
		}
	}
}

func (k *toy) Owns(on backend.Session) bool {
	s := k.at(on)
	return s.holds || s.place > 0
}

func (k *toy) Leftover(func(l, s uint8) bool) string { return "" }

func (k *toy) Resources() (all []sim.Resource) {
	for l := range k.scenario.Locks {
		r := sim.Resource{Name: k.scenario.Locks[l].Name}
		for i := range k.sessions {
			if s := &k.sessions[i]; s.alive && s.lock == uint8(l) && (s.holds || s.place > 0) {
				r.Content++
				if s.holds {
					r.Owner = k.owner(backend.Session(i + 1))
				}
			}
		}
		all = append(all, r)
	}
	return all
}

// Encoding of states. Positions in the queue need no normalisation, since they do not depend on the past.

func (k *toy) Clear() {
	clear(k.clients)
	k.sessions, k.ended = k.sessions[:0], k.ended[:0]
}

func (k *toy) CodeShared(*codec.Coder) {}

func (k *toy) CodeClient(c *codec.Coder, n uint8) {
	m := &k.clients[n-1]
	codec.Byte(c, &m.op)
	codec.Byte(c, &m.held)
	codec.Byte(c, &m.sent)
	codec.Byte(c, &m.reply)
	codec.Byte(c, &m.result.Outcome)
	codec.Byte(c, &m.result.Reason)
	codec.Byte(c, &m.result.Slot)
	codec.Bools(c, &m.linked, &m.renewed, &m.waiting, &m.told, &m.result.Held)
	if c.Reading() {
		m.on = backend.Session(n) // sessions are numbered like clients when a state is read
	}
}

func (k *toy) CodeSession(c *codec.Coder, on backend.Session) {
	s := k.at(on)
	s.alive = true
	codec.Bool(c, &s.holds)
	codec.Byte(c, &s.lock)
	codec.Byte(c, &s.place)
	codec.Number(c, &s.left)
}

func (k *toy) CodeOwned(c *codec.Coder, on backend.Session) { k.CodeSession(c, on) }

func (k *toy) Normalise(c uint8, dead, busy bool, _ backend.Session) {
	m := &k.clients[c-1]
	switch {
	case dead:
		*m = toyClient{}
	case !busy:
		*m = toyClient{linked: m.linked, held: m.held, renewed: m.renewed, told: m.told}
	}
}

func (k *toy) Describe(step *scenario.TraceStep) {
	step.Command, step.Reply, step.Resource = k.last[0], k.last[1], fmt.Sprintf("lock %d", step.Exchange.Lock+1)
}
