package leases

import (
	"math"
	"math/bits"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// Phase is what a client does next.
type Phase uint8

const (
	Idle Phase = iota
	Opening
	beginning
	counting1 // counts leases before it locks the master row
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

// Protocol is a lock with its options. It drives the machines of the lock's clients.
type Protocol struct{ Options }

// Place says which client a machine is, and which lock it uses.
type Place struct {
	Client uint8 // counted from 1
	Lock   uint8 // counted from 0
	Slots  uint8 // number of slots of the lock
}

// Machine is one client. The zero value has no connection.
type Machine struct {
	Op     lock.Op
	Arg    uint8 // limit that the caller of an acquire states
	Phase  Phase
	Result lock.Result
	Linked bool  // the client has a connection
	Token  uint8 // token of the lease that the client has, or is acquiring
	Num    uint8 // in the slot form: number of the row that the client has, or is claiming
	Held   bool  // the client believes that it has a lease
	Age    int64 // age of that lease in milliseconds, as the client counts it
	Fresh  int64 // milliseconds since the client sent the command that makes or extends the lease

	ended lock.Result // result that the operation will have after its commit or rollback
	again bool        // the operation starts again after the rollback
	count uint8
	tries uint8
	// For an acquire that adds rows of slots: the rows that are left to add, as bits, and whether all were added.
	missing uint16
	added   bool
}

// Generations is the number of tokens that a client uses in turn. It needs several, because an unfinished command may
// take effect when the client already uses another token.
const Generations = 4

// next returns the client's next token that no row and no waiting statement has. If all of the client's tokens are in
// use, it returns one that is.
func (at Place) next(token uint8, used func(token uint8) bool) uint8 {
	for range Generations {
		if token = at.Client*Generations + (token+1)%Generations; !used(token) {
			break
		}
	}
	return token
}

// Owner is the number of the client that uses a token.
func Owner(token uint8) uint8 { return token / Generations }

// Start begins an operation. arg is the limit of an acquire; 0 means the lock's number of slots. used reports whether a
// row or a waiting statement has a token.
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

// enter sets the first phase of the operation on an open connection.
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

// change is the phase in which a release or refresh changes its lease.
func (p *Protocol) change(m *Machine) Phase {
	if m.Op == lock.Release {
		return dropping
	}
	return Extending
}

// finish ends an operation with result r.
func (p *Protocol) finish(m *Machine, r lock.Result) { m.Phase, m.Result = Idle, r }

// end makes the operation commit or roll back, as the phase by says. The operation then ends with result r.
func (p *Protocol) end(m *Machine, by Phase, r lock.Result) { m.Phase, m.ended = by, r }

// limit is the number of leases that an acquire allows: that of its caller, or the lock's number of slots.
func (p *Protocol) limit(m *Machine, at Place) uint8 {
	most := at.Slots
	if m.Arg > 0 {
		return min(m.Arg, most)
	}
	return most
}

// Want returns the client's next command. Unlike [Protocol.Next], it does not change the machine.
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
	case adding: // not in a narrow column: MariaDB's IGNORE would insert another number
		return sql.Command{Verb: sql.Insert, Table: p.Table(), Lock: l, Num: uint8(bits.TrailingZeros16(m.missing)), Ignore: p.Numbers == wide}
	case committing:
		return sql.Command{Verb: sql.Commit}
	case undoing:
		return sql.Command{Verb: sql.Rollback}
	}
	return p.wantOfLeases(m, at)
}

// wantOfLeases is the next command, in a phase that concerns leases. Unless the phase says otherwise, the command
// concerns the client's own lease.
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

// wantDropped makes w the command that ends the client's lease.
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

// masterRead is how the master row is locked. A release or refresh always waits for the row.
func (p *Protocol) masterRead(m *Machine) sql.Read {
	if m.Op != lock.Acquire {
		return sql.ForUpdate
	}
	return p.read()
}

// grants reports whether the client's next command makes or extends its lease.
func (p *Protocol) grants(m *Machine) bool {
	return m.Phase == granting || m.Phase == claiming || m.Phase == Extending
}

// Granted reports whether the client has made or extended its lease in a transaction that is not committed yet.
func (m *Machine) Granted() bool {
	return (m.Phase == which || m.Phase == committing) && m.ended.Held
}

// Take hands the client the reply to its last command.
func (p *Protocol) Take(m *Machine, at Place, r sql.Reply) {
	there := m.Phase == adding && r.Code == sql.Duplicate // another client has added the row
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
		if r.Count == 0 { // another client has locked the row (SKIP LOCKED), or there is no row
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

// below is the set of the slots 1 to the client's limit, as bits.
func (p *Protocol) below(m *Machine, at Place) uint16 { return 1<<(p.limit(m, at)+1) - 2 }

// lacking are the rows that an acquire adds: slots in below, depending on the option Rows. r is the reply to the read
// of all rows.
func (p *Protocol) lacking(r sql.Reply, below uint16) uint16 {
	switch {
	case p.Rows == highest:
		return below &^ (1<<bits.Len32(r.Nums) - 1)
	case p.Rows == counted && int(r.Count) >= bits.OnesCount16(below):
		return 0
	}
	return below &^ uint16(r.Nums)
}

// add continues with the next row to add. After the last row it continues with the acquire.
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

// begun is the phase that follows the begin of a transaction.
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

// room makes the acquire insert a lease, or fail as full if there are as many leases as the limit.
func (p *Protocol) room(m *Machine, at Place) {
	if m.Phase = granting; m.count >= p.limit(m, at) {
		p.end(m, undoing, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
	}
}

// changed continues after a command on the client's lease. It may have found no row to change.
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

// committed ends an operation after its commit. If the server has rolled back instead, the operation has failed.
func (p *Protocol) committed(m *Machine, r sql.Reply) {
	if r.RolledBack {
		p.fail(m, sql.Reply{Code: sql.Conflict})
		return
	}
	p.settle(m)
}

// settle ends an operation with the result in ended.
func (p *Protocol) settle(m *Machine) {
	switch {
	case m.Op == lock.Release, !m.ended.Held && m.Op != lock.Acquire:
		m.Held = false
	case m.ended.Held:
		p.hold(m)
	}
	p.finish(m, m.ended)
}

// hold makes the client believe that it has a lease, unless the lease is over already.
func (p *Protocol) hold(m *Machine) {
	if m.Age = m.Fresh; p.Deadline == fromAnswer {
		m.Age = 0
	}
	if m.Held = m.Age < p.Belief(); !m.Held { // the lease was over before the reply came
		m.ended = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	}
}

// Belief is how long a client believes in a lease, in milliseconds. Without a deadline it is forever.
func (p *Protocol) Belief() int64 {
	if p.Deadline == Never {
		return math.MaxInt64
	}
	return int64(p.Lease)
}

// Pass advances the client's clock by ms milliseconds. A client believes in its lease for lease milliseconds. Pass
// reports whether the belief ends now.
func (m *Machine) Pass(ms, lease int64) (ended bool) {
	m.Fresh, m.Age = m.Fresh+ms, m.Age+ms
	ended = m.Held && m.Age >= lease
	m.Held = m.Held && !ended
	return ended
}

// overlooked reports whether the client ignores an error. It then continues as if the command had succeeded.
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

// fail handles an error: the client rolls back and starts the operation again, up to Retries times.
func (p *Protocol) fail(m *Machine, r sql.Reply) {
	if r.Code == sql.Gone {
		p.Lose(m)
		return
	}
	m.tries++
	m.again = int(m.tries) <= p.Retries
	m.Phase, m.ended = undoing, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}
}

// undone continues after a rollback: it ends the operation, or starts it again.
func (p *Protocol) undone(m *Machine) {
	if m.again {
		m.again, m.added = false, false
		p.enter(m)
		return
	}
	p.finish(m, m.ended)
}

// Lose ends the operation, since the connection is lost. The client still believes that it has its lease, whose row
// still exists, unless it was releasing it.
func (p *Protocol) Lose(m *Machine) {
	m.Linked = false
	if m.Result.Outcome == lock.Pending && m.Phase != Idle {
		p.finish(m, lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut})
		if m.Op == lock.Release {
			m.Held = false
		}
	}
}

// Next returns the client's next command, as [Protocol.Want] does, and is called when the command is sent. If the
// command makes or extends the lease, the client counts the lease from now on.
func (p *Protocol) Next(m *Machine, at Place) sql.Command {
	if p.grants(m) {
		m.Fresh = 0
	}
	return p.Want(m, at)
}

// Over reports whether an operation has ended, so that Result has its result.
func (m *Machine) Over() bool { return m.Phase == Idle && m.Result.Outcome != lock.Pending }

// Code encodes a machine, or decodes it if c reads.
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

// Normalise clears the fields of an idle machine that its later operations do not read, so that equal states are
// merged.
func (m *Machine) Normalise() {
	idle := Machine{Linked: m.Linked, Token: m.Token}
	if m.Held {
		idle.Num, idle.Held, idle.Age = m.Num, true, m.Age
	}
	*m = idle
}
