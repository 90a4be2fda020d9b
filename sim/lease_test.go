package sim_test

import (
	"fmt"
	"math/bits"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// The second example of a backend (README.md): a store of leases, and two locks on it. Holds belong to clients, not
// to sessions, and end by time. Its commands:
//
//	take    gets a permit, if fewer hold the lock than the caller states. In the priority lock it also takes a permit
//	        from a holder of a lower priority, and then waits for the victim's acknowledgement
//	extend  renews the caller's lease to its full length
//	ask     reports whether the caller has a permit
//	drop    gives the permit up
//
// A client stops believing once the lease time has passed by its own clock since it sent the command that got the
// lease.
const (
	leaseTake uint8 = iota + 1
	leaseExtend
	leaseAsk
	leaseDrop
	leaseStolen // the message to a victim, and its acknowledgement
)

var leaseWords = [...]string{"connect", "take", "extend", "ask", "drop", "acknowledge"}

// leaseTime is the length of a lease in milliseconds.
const leaseTime = 8

var (
	leaseOffers    = []lock.Op{lock.Acquire, lock.Verify, lock.Refresh, lock.Release}
	leaseSemaphore = &lock.Target{Name: "lease-semaphore", Kind: lock.Semaphore, Backend: "lease", Offers: leaseOffers,
		Traits: lock.Leases | lock.Limits | lock.Permits | lock.Tokens | lock.Deadlines}
	leasePriority = &lock.Target{Name: "lease-priority", Kind: lock.Mutex, Backend: "lease", Offers: leaseOffers,
		Traits: lock.Leases | lock.Priorities | lock.Acknowledged | lock.Deadlines}

	// These are the mutants, each with the property that it violates. A comment describes the bug.
	leaseEarly    = leaseMutant(leaseSemaphore, "lease-ends-early", "lease-respected") // ends leases too early
	leaseOneMore  = leaseMutant(leaseSemaphore, "limit-and-one", "limit-respected")    // grants one permit too many
	leaseHasty    = leaseMutant(leaseSemaphore, "full-if-busy", "honest-full")         // refuses during another acquire
	leaseRevives  = leaseMutant(leaseSemaphore, "refresh-revives", "renewal-honest")   // extends leases that ended
	leaseSilent   = leaseMutant(leaseSemaphore, "refresh-asks-nobody", "renewal-honest")
	leaseTokens   = leaseMutant(leaseSemaphore, "tokens-begin-again", "fencing-monotone")
	leaseLong     = leaseMutant(leaseSemaphore, "believes-longer", "mutual-exclusion") // believes for two lease times
	leaseEqual    = leaseMutant(leasePriority, "steals-from-equals", "priority-respected")
	leaseTimid    = leaseMutant(leasePriority, "steals-from-nobody", "priority-respected")
	leaseReckless = leaseMutant(leasePriority, "thief-does-not-wait", "victim-acknowledged")
)

// leaseOptions has no options: a lock on the lease store has none.
type leaseOptions struct{}

func (leaseOptions) Check() error      { return nil }
func (leaseOptions) Facts() lock.Facts { return lock.Facts{} }

var leaseTable = lock.NewTable("lease", leaseOptions{})

func init() { leaseRevives.Traits &^= lock.Deadlines }

func leaseMutant(of *lock.Target, name, breaks string) *lock.Target {
	t := *of
	t.Name, t.Breaks = name, breaks
	return &t
}

var leaseTargets = []*lock.Target{
	leaseSemaphore, leasePriority, leaseEarly, leaseOneMore, leaseHasty, leaseRevives, leaseSilent, leaseTokens, leaseLong,
	leaseEqual, leaseTimid, leaseReckless,
}

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{Name: "lease", Title: "the lease store", Defaults: leaseTable.Defaults(), References: leaseTargets[:2], Mutants: leaseTargets[2:]},
		New:     func() sim.Cluster { return new(leases) }, Links: true, Leases: true,
		Clocks: sim.ClockFaults{SkewMillis: 6, DriftThousandths: 500},
	})
}

// leases is the cluster of this backend: the clients' machines and the lease store.
type leases struct {
	sim.Plain
	target   *lock.Target
	scenario *scenario.Scenario
	clocks   *sim.Clocks
	now      int64
	tokens   [lock.MaxLocks]uint32
	clients  []leaseClient
	sessions int
	last     [2]string
}

// leaseClient is the machine of a client and, after the blank line, what the store knows about the client.
type leaseClient struct {
	op       lock.Op
	arg      uint8 // argument of the current operation
	result   lock.Result
	linked   bool
	held     uint8
	deadline int64 // time of the client's clock until which the client believes it holds the lock
	sent     int64 // time of the client's clock at which the client sent its last command
	reply    backend.Result
	waiting  bool  // the client's acquire waits for acknowledgements of its victims
	robbed   bool  // a thief has taken the client's permit, and the client has not acknowledged this
	owed     int64 // time until which the thief waits for the client's acknowledgement; 0 if the client owes none

	has      uint8 // slot that the client has in the store; 0 means none
	until    int64 // time at which the client's lease ends
	priority uint8
	token    uint32
	waits    uint8 // set of the clients whose acknowledgements this client needs
}

var _ sim.Clocked = (*leases)(nil)

func (k *leases) Clocks(c *sim.Clocks) { k.clocks = c }

func (k *leases) Reset(t *lock.Target, s *scenario.Scenario, _ lock.Options, _ func(backend.Session) uint8) {
	*k = leases{target: t, scenario: s, clocks: k.clocks, clients: make([]leaseClient, len(s.Clients))}
}

func (k *leases) SetUp(said func(backend.Exchange)) {
	k.last = [2]string{"create", "ok"}
	said(backend.Exchange{Method: leaseAsk})
}

func (k *leases) lockOf(c uint8) uint8 { return uint8(k.scenario.Clients[c-1].Lock) }

// live reports whether a client has a slot whose lease has not ended.
func (k *leases) live(m *leaseClient) bool {
	until := m.until
	if k.target == leaseEarly {
		until -= 3
	}
	return m.has > 0 && until > k.now
}

// The machine of a client.

func (k *leases) Start(c uint8, op lock.Op, arg uint8) {
	m := &k.clients[c-1]
	m.op, m.arg, m.result = op, arg, lock.Result{}
	if op != lock.Acquire {
		m.arg = max(1, m.held)
	}
	if op == lock.Refresh && k.target == leaseSilent {
		m.result = lock.Result{Outcome: lock.Done, Held: true, Slot: m.held}
	}
	if op == lock.Release {
		m.held = 0
	}
}

func (k *leases) Reply(c uint8) {
	m := &k.clients[c-1]
	ok := m.reply == backend.Done
	m.waiting = false
	m.result = lock.Result{Outcome: lock.Done, Slot: m.arg}
	if m.op == lock.Acquire {
		m.result.Slot = max(1, m.has)
	}
	switch {
	case m.reply == backend.Ended:
		k.Lose(c)
	case m.op == lock.Connect:
		m.linked = true
	case m.op == lock.Acquire && !m.linked:
		m.linked, m.result = true, lock.Result{}
	case m.op == lock.Acquire && !ok:
		m.result = lock.Result{Outcome: lock.Failed, Reason: lock.Full}
		if m.reply == backend.Denied {
			m.result.Reason = lock.GaveUp
		}
	case m.op == lock.Acquire, m.op == lock.Refresh && ok:
		m.result.Held = true
		m.held, m.deadline = m.has, m.sent+leaseTime
		if k.target == leaseLong || k.target == leaseRevives {
			m.deadline += leaseTime
		}
		if k.expire(c); m.held == 0 {
			m.result = lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}
			if m.op == lock.Refresh {
				m.result = lock.Result{Outcome: lock.Done, Reason: lock.Disconnected, Slot: m.arg}
			}
		}
	case m.op != lock.Release:
		m.result.Held = ok && m.held > 0
		if !m.result.Held {
			m.held, m.result.Reason = 0, lock.Disconnected
		}
	}
}

func (k *leases) Lose(c uint8) {
	m := &k.clients[c-1]
	m.linked, m.held, m.waiting = false, 0, false
	m.result = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut, Slot: 1}
}

func (k *leases) Op(c uint8) lock.Op { return k.clients[c-1].op }
func (k *leases) Result(c uint8) (lock.Result, bool) {
	r := k.clients[c-1].result
	return r, r.Outcome != lock.Pending
}
func (k *leases) Held(c uint8) uint8    { return k.clients[c-1].held }
func (k *leases) Linked(c uint8) bool   { return k.clients[c-1].linked }
func (k *leases) Opens(c uint8) bool    { return !k.clients[c-1].linked }
func (k *leases) Answered(c uint8) bool { return k.clients[c-1].waiting }

// Links returns link 0, the operation, unless it waits. Link 1 is the acknowledgement of a victim; a victim whose own
// acquire waits acknowledges later.
func (k *leases) Links(c uint8) (set uint8) {
	m := &k.clients[c-1]
	if !m.waiting || m.reply != backend.Blocked {
		set = 1
	}
	if m.robbed && !m.waiting {
		set |= 2
	}
	return set
}

// expire ends the client's belief that it holds the lock, once its deadline has passed on its own clock.
func (k *leases) expire(c uint8) {
	if m := &k.clients[c-1]; m.held > 0 && k.clocks.Now(c) >= m.deadline {
		m.held = 0
	}
}

// The lease store.

func (k *leases) Deliver(c uint8, on backend.Session) backend.Exchange {
	m := &k.clients[c-1]
	x := backend.Exchange{Role: backend.Mutex, Lock: k.lockOf(c), Slot: max(1, m.has), Known: true, RoundTrip: true, Waits: true, Minimal: true, Key: uint16(k.lockOf(c)) + 1}
	m.sent, m.reply = k.clocks.Now(c), backend.Done
	switch {
	case !m.linked:
		x.Access, x.Known = backend.OpenSession, false
	case on == 0:
		m.reply, x.Ended = backend.Ended, true
	case m.op == lock.Acquire:
		x.Method, x.Access = leaseTake, backend.Create
		m.reply = k.take(c, m)
		x.Slot = max(1, m.has)
	case m.op == lock.Refresh:
		x.Method, x.Access = leaseExtend, backend.Create
		if !k.live(m) && (k.target != leaseRevives || m.has == 0) {
			m.reply = backend.Absent
		} else {
			m.until = k.now + leaseTime
		}
	case m.op == lock.Release:
		x.Method, x.Access = leaseDrop, backend.Delete
		m.has, m.until = 0, 0
	case !k.live(m):
		x.Method, x.Access, m.reply = leaseAsk, backend.Read, backend.Absent
	default:
		x.Method, x.Access = leaseAsk, backend.Read
	}
	x.Result = m.reply
	k.last = [2]string{leaseWords[x.Method], fmt.Sprint([...]string{backend.Done: "ok", backend.Absent: "no", backend.Refused: "full", backend.Ended: "session is over", backend.Blocked: "asks its victims"}[x.Result])}
	return x
}

// take executes the command take: it grants client c a permit, refuses, or makes it wait for acknowledgements.
func (k *leases) take(c uint8, m *leaseClient) backend.Result {
	l := k.lockOf(c)
	taken, victim, busy := uint16(0), uint8(0), false
	for i := range k.clients {
		o := &k.clients[i]
		if k.lockOf(uint8(i+1)) != l {
			continue
		}
		if k.live(o) {
			taken |= 1 << o.has
			victim = uint8(i + 1)
		}
		busy = busy || uint8(i+1) != c && o.op == lock.Acquire && o.result.Outcome == lock.Pending
	}
	limit := int(max(1, m.arg))
	if k.target == leaseOneMore {
		limit++
	}
	if k.target == leaseHasty && busy {
		return backend.Refused
	}
	if k.target.Traits.Has(lock.Priorities) {
		if taken != 0 && victim != c {
			return k.steal(c, m, victim)
		}
		k.grant(l, m, 1, m.arg)
		// The client had the lock by an earlier take, whose reply was lost, and its victims have yet to acknowledge.
		if k.settle(); m.waits != 0 && k.target != leaseReckless {
			m.waiting = true
			return backend.Blocked
		}
		return backend.Done
	}
	if k.live(m) { // the client got the permit by an earlier take, whose reply was lost
		k.grant(l, m, m.has, 0)
		return backend.Done
	}
	if bits.OnesCount16(taken) >= limit {
		return backend.Refused
	}
	t := monitor.Truth{Taken: taken}
	k.grant(l, m, t.Lowest(), 0)
	return backend.Done
}

func (k *leases) grant(l uint8, m *leaseClient, slot, priority uint8) {
	k.tokens[l]++
	m.has, m.until, m.priority, m.token = slot, k.now+leaseTime, priority, k.tokens[l]
	if k.target == leaseTokens {
		m.token = 1
	}
}

// steal gives the victim's lock to client c, if the victim's priority is lower.
func (k *leases) steal(c uint8, m *leaseClient, victim uint8) backend.Result {
	v := &k.clients[victim-1]
	if v.priority > m.arg || v.priority == m.arg && k.target != leaseEqual || k.target == leaseTimid {
		return backend.Refused
	}
	// The thief also waits for the victim's victims. Its lease lasts at least as long as the victim's, to protect them.
	until := max(k.now+leaseTime, v.until)
	m.waits = 1<<(victim-1) | v.waits
	v.robbed, v.owed, v.has = true, v.until, 0
	k.grant(k.lockOf(c), m, 1, m.arg)
	m.until = max(m.until, until)
	m.waiting = k.target != leaseReckless
	if m.waiting {
		return backend.Blocked
	}
	m.waits = 0
	return backend.Done
}

// settle grants a waiting client its permit once all its victims have acknowledged, or their leases have ended. A
// waiting client that has itself lost its permit or lease gives up. changed reports whether any client got its reply.
func (k *leases) settle() (changed bool) {
	for i := range k.clients {
		m := &k.clients[i]
		for v := range k.clients {
			if o := &k.clients[v]; o.owed <= k.now {
				m.waits &^= 1 << v
			}
		}
		if !m.waiting || m.reply != backend.Blocked {
			continue
		}
		switch {
		case m.robbed && m.waits == 0, m.until <= k.now:
			m.reply, m.waits, changed = backend.Denied, 0, true
		case m.waits == 0:
			m.reply, changed = backend.Done, true
		}
	}
	return changed
}

// Act takes link 1: a victim stops believing that it holds the lock, and acknowledges.
func (k *leases) Act(c, _ uint8, _ backend.Session) backend.Exchange {
	m := &k.clients[c-1]
	m.held, m.robbed, m.owed = 0, false, 0
	k.settle()
	k.last = [2]string{leaseWords[leaseStolen], "ok"}
	return backend.Exchange{Method: leaseStolen, Access: backend.Acknowledge, Lock: k.lockOf(c), Slot: 1, Minimal: true}
}

func (k *leases) Connect() backend.Session {
	k.sessions++
	return backend.Session(k.sessions)
}
func (k *leases) End(backend.Session) {}
func (k *leases) Restart()            {}

func (k *leases) Expired(buf []backend.Session) []backend.Session { return buf }

// Advance stops at the next moment at which a lease or a client's belief ends.
func (k *leases) Advance(ms int64) (passed int64, changed bool) {
	next, due := k.NextTimer()
	if !due || next > ms {
		k.now += ms
		return ms, false
	}
	for i := range k.clients {
		if m := &k.clients[i]; m.held > 0 && k.clocks.In(uint8(i+1), m.deadline) <= next {
			m.held = 0
		}
	}
	k.now += next
	k.settle()
	return next, true
}

func (k *leases) NextTimer() (next int64, any bool) {
	sooner := func(in int64) {
		if in > 0 && in < sim.Never && (!any || in < next) {
			next, any = in, true
		}
	}
	for i := range k.clients {
		m := &k.clients[i]
		if m.has > 0 {
			sooner(m.until - k.now)
		}
		sooner(m.owed - k.now)
		if m.held > 0 {
			sooner(max(1, k.clocks.In(uint8(i+1), m.deadline)))
		}
	}
	return next, any
}

func (k *leases) Truth(l uint8, t *monitor.Truth) {
	*t = monitor.Truth{Exists: monitor.AllSlots}
	if k.target.Kind == lock.Mutex {
		t.Exists = 1 << 1
	}
	for i := range k.clients {
		if m := &k.clients[i]; m.has > 0 && k.lockOf(uint8(i+1)) == l {
			if m.until <= k.now {
				continue // the lease has ended
			}
			t.Taken |= 1 << m.has
			t.Owner[m.has], t.Until[m.has], t.Priority[m.has] = uint8(i+1), int32(m.until), m.priority
			if k.target.Traits.Has(lock.Tokens) {
				t.Token[m.has] = m.token
			}
		}
	}
}

func (k *leases) Owns(backend.Session) bool             { return false }
func (k *leases) Leftover(func(l, s uint8) bool) string { return "" }
func (k *leases) Resources() (all []sim.Resource)       { return nil }

// Encoding of states.

func (k *leases) Clear() {
	clear(k.clients)
	k.now, k.sessions, k.tokens = 0, 4*lock.MaxClients, [lock.MaxLocks]uint32{}
}

func (k *leases) CodeShared(c *codec.Coder) {
	for l := range k.scenario.Locks {
		codec.Number(c, &k.tokens[l])
	}
}

func (k *leases) CodeClient(c *codec.Coder, n uint8) {
	m := &k.clients[n-1]
	codec.Byte(c, &m.op)
	codec.Byte(c, &m.arg)
	codec.Byte(c, &m.held)
	codec.Byte(c, &m.reply)
	codec.Byte(c, &m.has)
	codec.Byte(c, &m.priority)
	codec.Byte(c, &m.waits)
	codec.Byte(c, &m.result.Outcome)
	codec.Byte(c, &m.result.Reason)
	codec.Byte(c, &m.result.Slot)
	codec.Bools(c, &m.linked, &m.waiting, &m.robbed, &m.result.Held)
	codec.Number(c, &m.token)
	// Times are encoded as the number of milliseconds from now.
	for _, t := range []struct {
		at  *int64
		now int64
	}{{&m.until, k.now}, {&m.owed, k.now}} {
		left := max(0, *t.at-t.now)
		codec.Number(c, &left)
		*t.at = 0
		if left > 0 {
			*t.at = left + t.now
		}
	}
	now := k.clocks.Now(n)
	due := m.deadline != 0
	if codec.Bool(c, &due); due { // a deadline in the past matters if a fault can still set the clock back
		left := max(0, m.deadline-now+k.clocks.Back())
		codec.Number(c, &left)
		m.deadline = now + left - k.clocks.Back()
	}
	since := now - m.sent
	codec.Number(c, &since)
	m.sent = now - since
}

func (k *leases) CodeSession(*codec.Coder, backend.Session) {}
func (k *leases) CodeOwned(*codec.Coder, backend.Session)   {}

func (k *leases) Normalise(c uint8, dead, busy bool, _ backend.Session) {
	m := &k.clients[c-1]
	keep := leaseClient{has: m.has, until: m.until, priority: m.priority, token: m.token, robbed: m.robbed && !dead, owed: m.owed, waits: m.waits}
	if m.has == 0 || m.until <= k.now && k.target != leaseRevives {
		keep.has, keep.until, keep.priority, keep.token = 0, 0, 0, 0
	}
	if m.owed <= k.now {
		keep.owed = 0
	}
	switch {
	case dead:
		*m = keep
	case !busy:
		keep.linked, keep.held, keep.deadline, keep.sent = m.linked, m.held, m.deadline, k.clocks.Now(c)
		if keep.held == 0 {
			keep.deadline = 0
		}
		*m = keep
	case !m.waiting:
		m.sent = k.clocks.Now(c)
	}
}

func (k *leases) Describe(step *scenario.TraceStep) {
	step.Command, step.Reply, step.Resource = k.last[0], k.last[1], fmt.Sprintf("lock %d", step.Exchange.Lock+1)
}
