package leases

import (
	"math"
	"math/bits"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// Phase is the next step of a client's machine.
type Phase uint8

const (
	Idle Phase = iota
	Opening
	beginning
	counting1 // before it locks the row
	locking
	pruning
	counting
	granting
	finding
	claiming
	which
	Extending
	dropping
	committing
	undoing
	reading
	adding
	phases
)

func (p Phase) String() string { return phaseWords[p] }

var phaseWords = [phases]string{
	"idle", "connects", "begins", "counts", "locks the master row", "deletes what is over", "counts", "inserts a lease", "looks for a slot",
	"claims it", "asks which it has", "extends its lease", "gives it back", "commits", "rolls back",
	"asks which rows there are", "adds a row",
}

// Protocol is a lock with its options.
type Protocol struct{ Options }

// Place identifies a client and its lock.
type Place struct {
	Client uint8 // counted from 1
	Lock   uint8 // counted from 0
	Slots  uint8 // number of slots of the lock
}

// Machine is a client. The zero value has no connection.
type Machine struct {
	Op     lock.Op
	Arg    uint8 // the limit of an acquire
	Phase  Phase
	Result lock.Result
	Linked bool  // it has a connection
	Token  uint8 // of the lease that it has, or is acquiring
	Num    uint8 // slot form: of the row that it has, or is claiming
	Held   bool  // it believes it has a lease
	Age    int64 // age of the believed lease: milliseconds since its count began
	Fresh  int64 // milliseconds since the command that makes or extends a lease was sent

	ended lock.Result // the operation's result after the commit or rollback
	again bool        // it starts over after the rollback
	count uint8
	tries uint8
	// If acquire adds rows: the rows still to add, as bits, and whether one was added.
	missing uint16
	added   bool
}

// Generations is the number of tokens that a client uses in rotation: an unfinished command may take effect when the
// client already has another token.
const Generations = 4

// next is a client's next unused token. A token is used if a row or a waiting statement still has it. If all are
// used, one is used twice.
func (at Place) next(token uint8, used func(token uint8) bool) uint8 {
	for range Generations {
		if token = at.Client*Generations + (token+1)%Generations; !used(token) {
			break
		}
	}
	return token
}

// Owner is the client to which a token belongs.
func Owner(token uint8) uint8 { return token / Generations }

// Start begins an operation. arg is the limit of an acquire, 0 for the lock's number of slots.
func (p *Protocol) Start(m *Machine, at Place, op lock.Op, arg uint8, used func(token uint8) bool) {
	m.Op, m.Arg, m.Result, m.ended, m.tries, m.again = op, arg, lock.Result{}, lock.Result{}, 0, false
	m.missing, m.added = 0, false
	if op == lock.Acquire {
		m.Token, m.Num = at.next(m.Token, used), 0
	}
	if m.Phase = Opening; m.Linked {
		p.enter(m)
	}
}

// enter begins an operation with its first command.
func (p *Protocol) enter(m *Machine) {
	switch {
	case m.Op == lock.Connect:
		p.finish(m, lock.Result{Outcome: lock.Done})
	case m.Op != lock.Acquire && !m.Held:
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.NotHeld})
	case m.Op == lock.Acquire && p.Form == Slots && p.Rows != Given && p.Rows != within:
		m.Phase = reading
	case m.Op == lock.Acquire || p.Form == Master:
		m.Phase = beginning
	default:
		m.Phase = p.change(m)
	}
}

// change is the command of a holder's operation.
func (p *Protocol) change(m *Machine) Phase {
	if m.Op == lock.Release {
		return dropping
	}
	return Extending
}

// finish ends an operation.
func (p *Protocol) finish(m *Machine, r lock.Result) { m.Phase, m.Result = Idle, r }

// end commits and then ends the operation; or, if nothing was changed, rolls back and then ends it.
func (p *Protocol) end(m *Machine, by Phase, r lock.Result) { m.Phase, m.ended = by, r }

// limit is the number of leases that a client allows.
func (p *Protocol) limit(m *Machine, at Place) uint8 {
	most := at.Slots
	if m.Arg > 0 {
		return min(m.Arg, most)
	}
	return most
}

// Want is the next command of a machine.
func (p *Protocol) Want(m *Machine, at Place) sql.Command {
	l := at.Lock + 1
	switch m.Phase {
	case Opening:
		return sql.Command{Verb: sql.Open, Level: p.Level()}
	case beginning:
		return sql.Command{Verb: sql.Begin}
	case locking:
		return sql.Command{Verb: sql.Select, Table: sql.Masters, Lock: l, Rows: sql.One, Read: p.masterRead(m)}
	case reading:
		return sql.Command{Verb: sql.Select, Table: p.Table(), Lock: l}
	case adding: // a narrow column has no IGNORE: MariaDB would take another number that fits
		return sql.Command{Verb: sql.Insert, Table: p.Table(), Lock: l, Num: uint8(bits.TrailingZeros16(m.missing)), Ignore: p.Numbers == wide}
	case committing:
		return sql.Command{Verb: sql.Commit}
	case undoing:
		return sql.Command{Verb: sql.Rollback}
	}
	return p.wantOfLeases(m, at)
}

// wantOfLeases is the next command about leases; by default it concerns the machine's own lease.
func (p *Protocol) wantOfLeases(m *Machine, at Place) sql.Command {
	w := sql.Command{
		Table: p.Table(), Lock: at.Lock + 1, Rows: sql.One, Num: m.Token, Token: m.Token, Clock: p.ServerTime(), Lease: int64(p.Lease),
	}
	if p.Form == Slots {
		w.Num = m.Num
	}
	switch m.Phase {
	case counting1, counting:
		w.Verb, w.Rows, w.If = sql.Count, sql.All, sql.Live
	case pruning:
		w.Verb, w.Rows, w.If = sql.Delete, sql.All, sql.Expired
	case granting:
		w.Verb = sql.Insert
	case finding:
		w.Verb, w.Rows, w.Num, w.If, w.First, w.Read = sql.Select, sql.Below, p.limit(m, at)+1, sql.Free, true, p.read()
	case claiming:
		if w.Verb = sql.Update; p.Claiming == inOne {
			w.Verb, w.Rows, w.Num, w.If, w.Read = sql.Claim, sql.Below, p.limit(m, at)+1, sql.Free, p.read()
		}
	case which:
		w.Verb, w.Rows, w.If = sql.Select, sql.All, sql.Owned
	case Extending:
		w.Verb, w.Set, w.If = sql.Update, sql.Renew, sql.Kept
		if p.Refreshes == owned {
			w.If = sql.Owned
		}
	case dropping:
		p.wantDropped(&w)
	}
	return w
}

// wantDropped makes a command end the lease.
func (p *Protocol) wantDropped(w *sql.Command) {
	switch {
	case p.Form == Master:
		w.Verb = sql.Delete
	case p.Released == deleteRow:
		w.Verb, w.If = sql.Delete, sql.Owned
	case p.Released == clearAny:
		w.Verb, w.Set, w.If = sql.Update, sql.Clear, sql.Any
	default:
		w.Verb, w.Set, w.If = sql.Update, sql.Clear, sql.Owned
	}
}

// masterRead is the way in which the master row is locked: holders wait for it.
func (p *Protocol) masterRead(m *Machine) sql.Read {
	if m.Op != lock.Acquire {
		return sql.ForUpdate
	}
	return p.read()
}

// grants reports whether the machine's command makes or extends its lease.
func (p *Protocol) grants(m *Machine) bool {
	return m.Phase == granting || m.Phase == claiming || m.Phase == Extending
}

// Granted reports whether the machine has changed a lease in a transaction that is not committed yet.
func (m *Machine) Granted() bool {
	return (m.Phase == which || m.Phase == committing) && m.ended.Held
}

// Take hands a machine a reply.
func (p *Protocol) Take(m *Machine, at Place, r sql.Reply) {
	there := m.Phase == adding && r.Code == sql.Duplicate // another client was first
	if r.Code != sql.OK && !there && !p.overlooked(m, &r) {
		p.fail(m, r)
		return
	}
	full := lock.Result{Outcome: lock.Failed, Reason: lock.Full}
	switch m.Phase {
	case Opening:
		m.Linked = true
		p.enter(m)
	case beginning:
		m.Phase = p.begun(m)
	case counting1:
		m.count = r.Count
		if p.room(m, at); m.Phase == granting {
			m.Phase = locking
		}
	case locking:
		if r.Count == 0 { // another client has it, or it does not exist
			p.end(m, undoing, full)
			return
		}
		if m.Phase = pruning; m.Op != lock.Acquire {
			m.Phase = p.change(m)
		}
	case pruning:
		if m.Phase = counting; p.Counted == beforeLock {
			p.room(m, at)
		}
	case counting:
		m.count = r.Count
		p.room(m, at)
	case finding:
		switch {
		case r.Count > 0:
			m.Num, m.Phase = r.First(), claiming
		case p.Rows == within && !m.added:
			m.missing = p.below(m, at)
			p.add(m)
		default:
			p.end(m, undoing, full)
		}
	case reading:
		m.missing = p.lacking(r, p.below(m, at))
		p.add(m)
	case adding:
		m.missing &= m.missing - 1
		p.add(m)
	case which:
		m.Num, m.Phase = r.First(), committing
	case granting, claiming, Extending, dropping:
		p.changed(m, r)
	case committing:
		p.committed(m, r)
	case undoing:
		p.undone(m)
	}
}

// below is the set of slots among which an acquire looks, as bits.
func (p *Protocol) below(m *Machine, at Place) uint16 { return 1<<(p.limit(m, at)+1) - 2 }

// lacking are the missing rows that an acquire adds, depending on the option Rows. below is the set of its slots.
func (p *Protocol) lacking(r sql.Reply, below uint16) uint16 {
	switch {
	case p.Rows == highest:
		return below &^ (1<<bits.Len32(r.Nums) - 1)
	case p.Rows == counted && int(r.Count) >= bits.OnesCount16(below):
		return 0
	}
	return below &^ uint16(r.Nums)
}

// add continues with the next row to add, or with the step after the last row.
func (p *Protocol) add(m *Machine) {
	switch m.added = m.missing == 0; {
	case !m.added:
		m.Phase = adding
	case p.Rows == within:
		m.Phase = p.begun(m)
	default:
		m.Phase = beginning
	}
}

// begun is the phase after the beginning of a transaction.
func (p *Protocol) begun(m *Machine) Phase {
	switch {
	case p.Form == Slots && p.Claiming == inOne:
		return claiming
	case p.Form == Slots:
		return finding
	case m.Op == lock.Acquire && p.Counted != afterLock:
		return counting1
	}
	return locking
}

// room continues if the count leaves room for another lease.
func (p *Protocol) room(m *Machine, at Place) {
	if m.Phase = granting; m.count >= p.limit(m, at) {
		p.end(m, undoing, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
	}
}

// changed continues after a command that has changed a lease, or found none to change.
func (p *Protocol) changed(m *Machine, r sql.Reply) {
	yes := lock.Result{Outcome: lock.Done, Held: m.Op != lock.Release}
	next := committing
	switch {
	case r.Count > 0:
	case m.Op == lock.Acquire && m.Phase == claiming:
		yes, next = lock.Result{Outcome: lock.Failed, Reason: lock.Full}, undoing
	case m.Op == lock.Refresh || m.Op == lock.Verify:
		yes = lock.Result{Outcome: lock.Done, Reason: lock.NotHeld}
	case m.Op == lock.Release:
		yes = lock.Result{Outcome: lock.Failed, Reason: lock.NotHeld}
	}
	switch {
	case m.Op == lock.Acquire && p.Form == Slots && p.Claiming == inOne && yes.Held:
		m.Phase, m.ended = which, yes
	case p.Form == Master || m.Op == lock.Acquire:
		p.end(m, next, yes)
	default:
		m.ended = yes
		p.settle(m)
	}
}

// committed ends an operation whose transaction has been committed.
func (p *Protocol) committed(m *Machine, r sql.Reply) {
	if r.RolledBack {
		p.fail(m, sql.Reply{Code: sql.Conflict})
		return
	}
	p.settle(m)
}

// settle ends an operation with the result that was decided.
func (p *Protocol) settle(m *Machine) {
	switch {
	case m.Op == lock.Release, !m.ended.Held && m.Op != lock.Acquire:
		m.Held = false
	case m.ended.Held:
		p.hold(m)
	}
	p.finish(m, m.ended)
}

// hold makes a client believe in its lease, as long as the lease lasts.
func (p *Protocol) hold(m *Machine) {
	if m.Age = m.Fresh; p.Deadline == fromAnswer {
		m.Age = 0
	}
	if m.Held = m.Age < p.Belief(); !m.Held { // it was over before the client was told
		m.ended = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	}
}

// Belief is how long a client believes in a lease.
func (p *Protocol) Belief() int64 {
	if p.Deadline == Never {
		return math.MaxInt64
	}
	return int64(p.Lease)
}

// Pass advances a client's clock, and reports whether this ends its belief in a lease.
func (m *Machine) Pass(ms, lease int64) (ended bool) {
	m.Fresh, m.Age = m.Fresh+ms, m.Age+ms
	ended = m.Held && m.Age >= lease
	m.Held = m.Held && !ended
	return ended
}

// overlooked reports whether a machine ignores an error and continues as if its command had succeeded.
func (p *Protocol) overlooked(m *Machine, r *sql.Reply) bool {
	how := p.OnFailure
	if r.Code == sql.LockTimeout {
		how = p.OnTimeout
	}
	if how != proceed || r.Code == sql.Gone || r.Code == sql.InFailed || m.Phase == committing {
		return false
	}
	*r = sql.Reply{Count: 1, Nums: 1 << (m.Num & 31)}
	return true
}

// fail handles an error: the transaction is rolled back, and tried again.
func (p *Protocol) fail(m *Machine, r sql.Reply) {
	if r.Code == sql.Gone {
		p.Lose(m)
		return
	}
	m.tries++
	m.again = int(m.tries) <= p.Retries
	m.Phase, m.ended = undoing, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}
}

// undone ends an operation after a rollback, or starts it over.
func (p *Protocol) undone(m *Machine) {
	if m.again {
		m.again, m.added = false, false
		p.enter(m)
		return
	}
	p.finish(m, m.ended)
}

// Lose is the loss of the connection, as the client sees it. The client keeps its belief, since its row still exists.
func (p *Protocol) Lose(m *Machine) {
	m.Linked = false
	if m.Result.Outcome == lock.Pending && m.Phase != Idle {
		p.finish(m, lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut})
		if m.Op == lock.Release {
			m.Held = false
		}
	}
}

// Next is [Protocol.Want] at the moment of sending: the lease of a command that makes or extends one begins now.
func (p *Protocol) Next(m *Machine, at Place) sql.Command {
	if p.grants(m) {
		m.Fresh = 0
	}
	return p.Want(m, at)
}

// Over reports whether the operation has ended.
func (m *Machine) Over() bool { return m.Phase == Idle && m.Result.Outcome != lock.Pending }

// Code writes or reads a machine.
func (p *Protocol) Code(c *codec.Coder, m *Machine) {
	codec.Byte(c, &m.Op)
	codec.Byte(c, &m.Arg)
	codec.Byte(c, &m.Phase)
	codec.Byte(c, &m.Token)
	codec.Byte(c, &m.Num)
	codec.Byte(c, &m.count)
	codec.Byte(c, &m.tries)
	codec.Number(c, &m.missing)
	for _, r := range []*lock.Result{&m.Result, &m.ended} {
		codec.Byte(c, &r.Outcome)
		codec.Byte(c, &r.Reason)
		codec.Byte(c, &r.Slot)
		codec.Bool(c, &r.Held)
	}
	codec.Bools(c, &m.Linked, &m.again, &m.Held, &m.added)
	if m.Held && p.Deadline != Never {
		codec.Number(c, &m.Age)
	}
	if m.Phase != Idle {
		codec.Number(c, &m.Fresh)
	}
}

// Normalise clears the fields of an idle machine that can no longer make a difference.
func (m *Machine) Normalise() {
	idle := Machine{Linked: m.Linked, Token: m.Token}
	if m.Held {
		idle.Num, idle.Held, idle.Age = m.Num, true, m.Age
	}
	*m = idle
}
