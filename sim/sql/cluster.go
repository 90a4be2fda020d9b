package sql

import (
	"fmt"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/model/sql/leases"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

// cluster joins the clients' state machines with one simulated database server (row store). A session is a connection;
// a lease outlives it.
type cluster struct {
	sim.Plain
	leases.Protocol
	dialect  sql.Dialect
	store    rowstore.Store
	scenario *scenario.Scenario
	clients  []user
	waits    []int64                 // by session: milliseconds that a waiting statement may still wait; 0 is no limit
	permits  [lock.MaxLocks][]permit // master form: the slot number of each lease
	seen     int                     // value of store.Published at the last call of access or End
	last     sql.Sent
	kept     kept
}

// kept is the copy of the cluster's state that [cluster.Keep] makes.
type kept struct {
	store   rowstore.Store
	clients []user
	waits   []int64
	permits [lock.MaxLocks][]permit
	seen    int
}

// user is one client: its state machine, its session (on), its last command, and the reply to this command. waiting
// says that the command waits in the server, without a reply yet.
type user struct {
	leases.Machine
	on      backend.Session
	sent    sql.Command
	reply   sql.Reply
	waiting bool
}

// permit is a lease in the master form: its token, and the slot number that the simulation has given it.
type permit struct{ token, slot uint8 }

var (
	_ sim.Cluster   = (*cluster)(nil)
	_ sim.Answering = (*cluster)(nil)
	_ sim.Renewing  = (*cluster)(nil)
	_ sim.Keeping   = (*cluster)(nil)
)

// Reset implements [sim.Cluster]: it begins a scenario with empty servers and idle clients.
func (k *cluster) Reset(_ *lock.Target, s *scenario.Scenario, o lock.Options, _ func(backend.Session) uint8) {
	k.Options = leases.Tables[k.dialect].Of(o)
	k.scenario = s
	k.store.Reset(k.dialect)
	k.clients = append(k.clients[:0], make([]user, len(s.Clients))...)
	k.waits, k.permits, k.seen = k.waits[:0], [lock.MaxLocks][]permit{}, 0
}

// SetUp implements [sim.Cluster]: it inserts the rows that the lock needs before its first use.
func (k *cluster) SetUp(said func(backend.Exchange)) {
	for l := range k.scenario.Locks {
		if k.Form == leases.Master {
			k.seed(said, sql.Masters, uint8(l), 0)
			continue
		}
		for num := range k.scenario.Locks[l].Slots {
			if k.Rows == leases.Given {
				k.seed(said, k.Table(), uint8(l), num+1)
			}
		}
	}
}

func (k *cluster) seed(said func(backend.Exchange), t sql.Table, l, num uint8) {
	c := sql.Command{Verb: sql.Insert, Table: t, Lock: l + 1, Num: num}
	k.store.Seed(t, l+1, num, 0, 0)
	k.last = sql.Sent{Command: c, Reply: sql.Reply{Count: 1}}
	said(backend.Exchange{Method: uint8(c.Verb), Role: backend.Slot, Lock: l, Slot: max(1, num), Known: true, Key: keyOf(&c)})
}

func (k *cluster) lockOf(c uint8) uint8 { return uint8(k.scenario.Clients[c-1].Lock) }

func (k *cluster) machine(c uint8) *leases.Machine { return &k.clients[c-1].Machine }

// Start implements [sim.Cluster]: it begins an operation on client c's machine.
func (k *cluster) Start(c uint8, op lock.Op, arg uint8) {
	k.Protocol.Start(k.machine(c), k.place(c), op, arg, k.store.Uses)
}

// place describes client c's lock to the client's state machine.
func (k *cluster) place(c uint8) leases.Place {
	l := k.lockOf(c)
	return leases.Place{Client: c, Lock: l, Slots: k.scenario.Locks[l].Slots}
}

// Op implements [sim.Cluster]: it returns client c's current or last operation.
func (k *cluster) Op(c uint8) lock.Op { return k.machine(c).Op }

// Result implements [sim.Cluster]: it returns the result of client c's operation, and whether the operation has ended.
func (k *cluster) Result(c uint8) (lock.Result, bool) {
	m := k.machine(c)
	r := m.Result
	if r.Slot == 0 && (r.Held || m.Op == lock.Release || m.Op == lock.Refresh) {
		r.Slot = k.slot(c)
	}
	return r, m.Over()
}

// Held implements [sim.Cluster]: it returns the slot that client c believes it holds; 0 means none.
func (k *cluster) Held(c uint8) uint8 {
	if m := k.machine(c); m.Held && (m.Op != lock.Release || m.Phase == leases.Idle) {
		return k.slot(c)
	}
	return 0
}

// slot returns the slot of client c's lease. In the master form, a lease that had ended and was then extended may have
// another slot than before.
func (k *cluster) slot(c uint8) uint8 {
	m := k.machine(c)
	for _, p := range k.permits[k.lockOf(c)] {
		if p.token == m.Token {
			return p.slot
		}
	}
	if m.Num > 0 {
		return m.Num
	}
	if n := k.lowest(k.lockOf(c), c); k.Form == leases.Master && n <= k.scenario.Locks[k.lockOf(c)].Slots {
		return n // the client's lease has expired
	}
	return 1 // all slots are held, so slot 1 is another client's
}

// Linked implements [sim.Cluster]: it reports whether client c believes that it has a session.
func (k *cluster) Linked(c uint8) bool { return k.machine(c).Linked }

// Links implements [sim.Cluster]: it returns the set of links on which client c can take a step.
func (k *cluster) Links(c uint8) uint8 {
	if u := &k.clients[c-1]; u.waiting && u.on != 0 && k.store.Alive(uint8(u.on)) && k.store.Waits(uint8(u.on)) {
		return 0
	}
	return 1
}

// Answered implements [sim.Cluster]: it reports whether the reply to client c's waiting command is ready.
func (k *cluster) Answered(c uint8) bool { return k.clients[c-1].waiting }

// Opens implements [sim.Cluster]: it reports whether client c's next command opens a session.
func (k *cluster) Opens(c uint8) bool { return k.machine(c).Phase == leases.Opening }

// Deliver implements [sim.Cluster]: it sends the next command of client c's operation on a session.
func (k *cluster) Deliver(c uint8, on backend.Session) backend.Exchange {
	u := &k.clients[c-1]
	u.on, u.sent = on, k.Next(&u.Machine, k.place(c))
	x := backend.Exchange{Method: uint8(u.sent.Verb), Role: backend.Holder, Lock: k.lockOf(c), RoundTrip: true, Waits: true, Key: keyOf(&u.sent)}
	switch {
	case u.sent.Verb == sql.Open:
		u.reply, x.Access = sql.Reply{}, backend.OpenSession
	case on == 0 || !k.store.Alive(uint8(on)):
		u.reply, x.Ended = sql.Reply{Code: sql.Gone}, on != 0
	default:
		u.reply = k.store.Apply(uint8(on), &u.sent)
		k.limitWait(on)
	}
	u.waiting = u.reply.Code == sql.Blocked
	x.Answer, x.Result = uint8(u.reply.Code), results[u.reply.Code]
	k.access(c, &x)
	k.last = sql.Sent{Command: u.sent, Reply: u.reply}
	return x
}

var results = [sql.Codes]backend.Result{
	sql.OK: backend.Done, sql.Blocked: backend.Blocked, sql.Duplicate: backend.Refused, sql.LockTimeout: backend.Refused,
	sql.Deadlock: backend.Failed, sql.Conflict: backend.Failed, sql.InFailed: backend.Wrong, sql.OutOfRange: backend.Refused, sql.Gone: backend.Ended,
}

// access stores in x what the command did to leases. This includes changes by other clients' transactions that could
// continue and commit because of the command.
func (k *cluster) access(c uint8, x *backend.Exchange) {
	published := k.store.Published != k.seen || k.machine(c).Phase == leases.Extending && k.clients[c-1].reply.Count > 0
	k.seen = k.store.Published
	k.sync()
	switch {
	case x.Access != backend.Opaque:
	case published:
		x.Access, x.Known, x.Slot = backend.Create, true, k.slot(c)
		if k.Op(c) == lock.Release {
			x.Access = backend.Delete
		}
		if x.Result == backend.Blocked || x.Result == backend.Done {
			return
		}
		x.Result = backend.Done // the command failed, but it let other clients' transactions commit
	case k.clients[c-1].sent.Verb == sql.Select || k.clients[c-1].sent.Verb == sql.Count:
		x.Access = backend.Read
	case k.clients[c-1].sent.Verb == sql.Commit:
		x.Access = backend.Commit
	}
}

// keyOf encodes the table, lock and number of a command's row in one number; 0 if the command has no row.
func keyOf(c *sql.Command) uint16 {
	if c.Verb <= sql.Rollback {
		return 0
	}
	return uint16(c.Table+1)<<12 | uint16(c.Lock)<<8 | uint16(c.Num)
}

// limitWait sets how long a statement of the session may wait.
func (k *cluster) limitWait(on backend.Session) {
	for int(on) > len(k.waits) {
		k.waits = append(k.waits, 0)
	}
	k.waits[on-1] = int64(k.LockWait)
}

// Reply implements [sim.Cluster]: it gives client c the reply to its last command.
func (k *cluster) Reply(c uint8) {
	u := &k.clients[c-1]
	if u.waiting {
		u.waiting = false
		if u.reply = (sql.Reply{Code: sql.Gone}); u.on != 0 && k.store.Alive(uint8(u.on)) {
			u.reply = k.store.Answer(uint8(u.on))
		}
		k.last = sql.Sent{Command: u.sent, Reply: u.reply}
	}
	believed := u.Held
	k.Take(&u.Machine, k.place(c), u.reply)
	if u.Held && k.Form == leases.Master {
		if !believed {
			u.Num = 0 // another client may have the old slot
		}
		u.Num = k.slot(c)
	}
}

// Renewed implements [sim.Renewing]: it reports whether the last command was an update that has extended a lease.
func (k *cluster) Renewed(uint8) bool {
	return k.last.Command.Set == sql.Renew && k.last.Command.Verb == sql.Update && k.last.Reply.Count > 0
}

// Hindered implements [sim.Hindering]: the last reply was a lock timeout, MariaDB's error 1205 or PostgreSQL's 55P03.
func (k *cluster) Hindered(uint8) bool { return k.last.Reply.Code == sql.LockTimeout }

// Lose implements [sim.Cluster]: client c loses the reply to its last command, and sees its session as broken.
func (k *cluster) Lose(c uint8) {
	u := &k.clients[c-1]
	u.waiting = false
	k.Protocol.Lose(&u.Machine)
}

// Act implements [sim.Cluster]. It is never called, since clients have no activities besides their operations.
func (k *cluster) Act(uint8, uint8, backend.Session) backend.Exchange { return backend.Exchange{} }

// Connect implements [sim.Cluster]: it opens a session and returns its number.
func (k *cluster) Connect() backend.Session { return backend.Session(k.store.Open(k.Level())) }

// End implements [sim.Cluster]. A waiting statement keeps waiting and takes effect: the server notices the end of the
// connection only after the wait.
func (k *cluster) End(on backend.Session) {
	for i := range k.clients {
		if k.clients[i].on == on {
			k.clients[i].on = 0 // a later session may get this number
		}
	}
	k.store.Leave(uint8(on))
	k.seen = k.store.Published
	k.sync()
}

// Restart implements [sim.Cluster]: it stops the servers and starts them again.
func (k *cluster) Restart() {
	k.store.Restart()
	clear(k.waits)
	for i := range k.clients {
		k.clients[i].on = 0 // a later session may get this number
	}
}

// Advance implements [sim.Cluster]: it lets the servers' time pass, and reports whether anything changed.
func (k *cluster) Advance(ms int64) (passed int64, changed bool) {
	for passed < ms && !changed {
		passed++
		changed = k.tick()
	}
	return passed, changed
}

// tick lets one millisecond pass. It reports whether a lease, a client's belief or a wait ended.
func (k *cluster) tick() (changed bool) {
	for l := range k.scenario.Locks {
		k.living(uint8(l), func(_, _ uint8, until int64) { changed = changed || until == k.store.Now })
	}
	k.store.Now++
	for i := range k.clients {
		changed = k.clients[i].Pass(1, k.Belief()) || changed
	}
	for i := range k.waits {
		on := uint8(i + 1)
		if k.waits[i] == 0 || !k.store.Alive(on) || !k.store.Waits(on) {
			continue
		}
		if k.waits[i]--; k.waits[i] == 0 {
			k.store.TimeOut(on)
			changed = true
		}
	}
	if changed {
		k.sync()
	}
	return changed
}

// Expired implements [sim.Cluster]. It adds nothing to buf: sessions do not expire.
func (k *cluster) Expired(buf []backend.Session) []backend.Session { return buf }

// NextTimer implements [sim.Cluster]. Its timers include the ends of leases in uncommitted transactions, and the end of
// the belief that a client will have after its transaction has committed.
func (k *cluster) NextTimer() (next int64, due bool) {
	sooner := func(in int64) {
		if in > 0 && (!due || in < next) {
			next, due = in, true
		}
	}
	k.store.Moments(int64(k.Lease), k.ServerTime(), func(at int64) { sooner(at + 1 - k.store.Now) })
	for i := range k.clients {
		if m := &k.clients[i].Machine; k.Deadline != leases.Never {
			if m.Held {
				sooner(int64(k.Lease) - m.Age)
			}
			if m.Granted() {
				sooner(int64(k.Lease) - m.Fresh)
			}
		}
	}
	for i, left := range k.waits {
		if on := uint8(i + 1); k.store.Alive(on) && k.store.Waits(on) {
			sooner(left)
		}
	}
	return next, due
}

// Phase names the current activity of client c's machine.
func (k *cluster) Phase(c uint8) string { return k.machine(c).Phase.String() }

// DescribeAnswer implements [sim.Answering]: it shortens the command in a trace, since an earlier step shows it in
// full.
func (k *cluster) DescribeAnswer(step *scenario.TraceStep) {
	k.Describe(step)
	step.Command = fmt.Sprintf("(the %v that waited)", k.last.Command.Verb)
}

// Describe implements [sim.Cluster]: it adds the last command and its reply to a step of a trace.
func (k *cluster) Describe(step *scenario.TraceStep) {
	c, r := &k.last.Command, &k.last.Reply
	step.Command, step.Reply, step.Payload = c.Text(k.dialect, int(c.Lock)), r.Code.String(), k.last
	switch {
	case r.Code != sql.OK:
		if number, state := r.Code.Numbers(); k.dialect == sql.MariaDB && number > 0 {
			step.Reply = fmt.Sprintf("%d %s", number, step.Reply)
		} else if k.dialect == sql.Postgres && state != "" {
			step.Reply = state + " " + step.Reply
		}
	case c.Verb >= sql.Select:
		step.Reply = fmt.Sprintf("%d rows", r.Count)
	}
	if c.Verb >= sql.Select {
		step.Resource = fmt.Sprintf("%v of lock %d", c.Table, c.Lock)
	}
}
