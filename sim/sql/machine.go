package sql

import (
	"math"
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/sql"
)

// phase is what a client's machine sends next.
type phase uint8

const (
	idle phase = iota
	opening
	beginning
	counting1 // before the lock
	locking
	pruning
	counting
	granting
	finding
	claiming
	which
	extending
	dropping
	committing
	undoing
	reading
	adding
	phases
)

var phaseWords = [phases]string{
	"idle", "connects", "begins", "counts", "locks the master row", "deletes what is over", "counts", "inserts a lease", "looks for a slot",
	"claims it", "asks which it has", "extends its lease", "gives it back", "commits", "rolls back",
	"asks which rows there are", "adds a row",
}

// machine is a client.
type machine struct {
	op     lock.Op
	arg    uint8 // the limit of acquire
	phase  phase
	result lock.Result
	linked bool
	token  uint8 // of the lease that it has, or is getting
	num    uint8 // slot form: of the row that it claims, or has
	count  uint8
	tries  uint8
	ended  lock.Result // what the operation comes to after the commit or rollback
	again  bool        // it begins again after the rollback
	// Where acquire adds rows: those that it has yet to add, as bits, and whether it has.
	missing uint16
	added   bool
	held    bool
	age     int64 // of the lease that it believes in, from when that was counted
	fresh   int64 // since it sent the command that makes or extends a lease
}

// generations is how many tokens a client uses, in turn: what it left undone may take effect when it has others.
const generations = 4

// unused is a client's next token, but those that a row has still, or a statement that waits. A client that has left all of
// its tokens behind uses one twice.
func (k *cluster) unused(c, token uint8) uint8 {
	for range generations {
		if token = c*generations + (token+1)%generations; !k.store.Uses(token) {
			break
		}
	}
	return token
}

// client is whose a token is.
func client(token uint8) uint8 { return token / generations }

// start begins an operation.
func (k *cluster) start(m *machine, c uint8, op lock.Op, arg uint8) {
	m.op, m.arg, m.result, m.ended, m.tries, m.again = op, arg, lock.Result{}, lock.Result{}, 0, false
	m.missing, m.added = 0, false
	if op == lock.Acquire {
		m.token, m.num = k.unused(c, m.token), 0
	}
	if m.phase = opening; m.linked {
		k.enter(m)
	}
}

// enter is the first command of an operation.
func (k *cluster) enter(m *machine) {
	switch {
	case m.op == lock.Connect:
		k.finish(m, lock.Result{Outcome: lock.Done})
	case m.op != lock.Acquire && !m.held:
		k.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.NotHeld})
	case m.op == lock.Acquire && k.Form == slots && k.Rows != given && k.Rows != within:
		m.phase = reading
	case m.op == lock.Acquire || k.Form == master:
		m.phase = beginning
	default:
		m.phase = k.change(m)
	}
}

// change is the command of a holder's operation.
func (k *cluster) change(m *machine) phase {
	if m.op == lock.Release {
		return dropping
	}
	return extending
}

// finish ends an operation.
func (k *cluster) finish(m *machine, r lock.Result) { m.phase, m.result = idle, r }

// end commits and then ends, or, if nothing was changed, rolls back and then ends.
func (k *cluster) end(m *machine, by phase, r lock.Result) { m.phase, m.ended = by, r }

// limit is how many leases a client takes there to be room for.
func (k *cluster) limit(m *machine, c uint8) uint8 {
	most := k.scenario.Locks[k.lockOf(c)].Slots
	if m.arg > 0 {
		return min(m.arg, most)
	}
	return most
}

// want is the command that a machine sends.
func (k *cluster) want(m *machine, c uint8) sql.Command {
	l := k.lockOf(c) + 1
	switch m.phase {
	case opening:
		return sql.Command{Verb: sql.Open, Level: k.level()}
	case beginning:
		return sql.Command{Verb: sql.Begin}
	case locking:
		return sql.Command{Verb: sql.Select, Table: sql.Masters, Lock: l, Rows: sql.One, Read: k.masterRead(m)}
	case reading:
		return sql.Command{Verb: sql.Select, Table: k.table(), Lock: l}
	case adding: // a narrow column has no IGNORE: MariaDB would take another number that fits
		return sql.Command{Verb: sql.Insert, Table: k.table(), Lock: l, Num: uint8(bits.TrailingZeros16(m.missing)), Ignore: k.Numbers == wide}
	case committing:
		return sql.Command{Verb: sql.Commit}
	case undoing:
		return sql.Command{Verb: sql.Rollback}
	}
	return k.wantOfLeases(m, c)
}

// wantOfLeases is the command about leases, a machine's own unless it says otherwise.
func (k *cluster) wantOfLeases(m *machine, c uint8) sql.Command {
	w := sql.Command{
		Table: k.table(), Lock: k.lockOf(c) + 1, Rows: sql.One, Num: m.token, Token: m.token, Clock: k.clock(), Lease: int64(k.Lease),
	}
	if k.Form == slots {
		w.Num = m.num
	}
	switch m.phase {
	case counting1, counting:
		w.Verb, w.Rows, w.If = sql.Count, sql.All, sql.Live
	case pruning:
		w.Verb, w.Rows, w.If = sql.Delete, sql.All, sql.Expired
	case granting:
		w.Verb = sql.Insert
	case finding:
		w.Verb, w.Rows, w.Num, w.If, w.First, w.Read = sql.Select, sql.Below, k.limit(m, c)+1, sql.Free, true, k.read()
	case claiming:
		if w.Verb = sql.Update; k.Claiming == inOne {
			w.Verb, w.Rows, w.Num, w.If, w.Read = sql.Claim, sql.Below, k.limit(m, c)+1, sql.Free, k.read()
		}
	case which:
		w.Verb, w.Rows, w.If = sql.Select, sql.All, sql.Owned
	case extending:
		w.Verb, w.Set, w.If = sql.Update, sql.Renew, sql.Kept
		if k.Refreshes == owned {
			w.If = sql.Owned
		}
	case dropping:
		k.wantDropped(&w)
	}
	return w
}

// wantDropped has a command end the lease.
func (k *cluster) wantDropped(w *sql.Command) {
	switch {
	case k.Form == master:
		w.Verb = sql.Delete
	case k.Released == deleteRow:
		w.Verb, w.If = sql.Delete, sql.Owned
	case k.Released == clearAny:
		w.Verb, w.Set, w.If = sql.Update, sql.Clear, sql.Any
	default:
		w.Verb, w.Set, w.If = sql.Update, sql.Clear, sql.Owned
	}
}

// masterRead is how the master row is locked: holders wait for it.
func (k *cluster) masterRead(m *machine) sql.Read {
	if m.op != lock.Acquire {
		return sql.ForUpdate
	}
	return k.read()
}

// grants reports whether the machine's command is the one from which its lease is counted.
func (k *cluster) grants(m *machine) bool {
	return m.phase == granting || m.phase == claiming || m.phase == extending
}

// granted reports whether the machine has changed a lease in a transaction that it has yet to commit.
func (m *machine) granted() bool {
	return (m.phase == which || m.phase == committing) && m.ended.Held
}

// take has a machine go on with a reply.
func (k *cluster) take(m *machine, c uint8, r sql.Reply) {
	there := m.phase == adding && r.Code == sql.Duplicate // somebody else was first
	if r.Code != sql.OK && !there && !k.overlooked(m, &r) {
		k.fail(m, r)
		return
	}
	full := lock.Result{Outcome: lock.Failed, Reason: lock.Full}
	switch m.phase {
	case opening:
		m.linked = true
		k.enter(m)
	case beginning:
		m.phase = k.begun(m)
	case counting1:
		m.count = r.Count
		if k.room(m, c); m.phase == granting {
			m.phase = locking
		}
	case locking:
		if r.Count == 0 { // somebody else has it, or it is not there
			k.end(m, undoing, full)
			return
		}
		if m.phase = pruning; m.op != lock.Acquire {
			m.phase = k.change(m)
		}
	case pruning:
		if m.phase = counting; k.Counted == beforeLock {
			k.room(m, c)
		}
	case counting:
		m.count = r.Count
		k.room(m, c)
	case finding:
		switch {
		case r.Count > 0:
			m.num, m.phase = r.First(), claiming
		case k.Rows == within && !m.added:
			m.missing = k.below(m, c)
			k.add(m)
		default:
			k.end(m, undoing, full)
		}
	case reading:
		m.missing = k.lacking(r, k.below(m, c))
		k.add(m)
	case adding:
		m.missing &= m.missing - 1
		k.add(m)
	case which:
		m.num, m.phase = r.First(), committing
	case granting, claiming, extending, dropping:
		k.changed(m, r)
	case committing:
		k.committed(m, r)
	case undoing:
		k.undone(m)
	}
}

// below are the numbers of the rows that an acquire looks among, as bits.
func (k *cluster) below(m *machine, c uint8) uint16 { return 1<<(k.limit(m, c)+1) - 2 }

// lacking are those of the rows below that are to be added, by what rows there are: as each version has it.
func (k *cluster) lacking(r sql.Reply, below uint16) uint16 {
	switch {
	case k.Rows == highest:
		return below &^ (1<<bits.Len32(r.Nums) - 1)
	case k.Rows == counted && int(r.Count) >= bits.OnesCount16(below):
		return 0
	}
	return below &^ uint16(r.Nums)
}

// add goes on with the next row that is to be added, or, if there is none, with what follows.
func (k *cluster) add(m *machine) {
	switch m.added = m.missing == 0; {
	case !m.added:
		m.phase = adding
	case k.Rows == within:
		m.phase = k.begun(m)
	default:
		m.phase = beginning
	}
}

// begun is what follows the beginning of a transaction.
func (k *cluster) begun(m *machine) phase {
	switch {
	case k.Form == slots && k.Claiming == inOne:
		return claiming
	case k.Form == slots:
		return finding
	case m.op == lock.Acquire && k.Counted != afterLock:
		return counting1
	}
	return locking
}

// room goes on if the count has left room for another lease.
func (k *cluster) room(m *machine, c uint8) {
	if m.phase = granting; m.count >= k.limit(m, c) {
		k.end(m, undoing, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
	}
}

// changed is what follows a command that has changed a lease, or found none to change.
func (k *cluster) changed(m *machine, r sql.Reply) {
	yes := lock.Result{Outcome: lock.Done, Held: m.op != lock.Release}
	next := committing
	switch {
	case r.Count > 0:
	case m.op == lock.Acquire && m.phase == claiming:
		yes, next = lock.Result{Outcome: lock.Failed, Reason: lock.Full}, undoing
	case m.op == lock.Refresh || m.op == lock.Verify:
		yes = lock.Result{Outcome: lock.Done, Reason: lock.NotHeld}
	case m.op == lock.Release:
		yes = lock.Result{Outcome: lock.Failed, Reason: lock.NotHeld}
	}
	switch {
	case m.op == lock.Acquire && k.Form == slots && k.Claiming == inOne && yes.Held:
		m.phase, m.ended = which, yes
	case k.Form == master || m.op == lock.Acquire:
		k.end(m, next, yes)
	default:
		m.ended = yes
		k.settle(m)
	}
}

// committed ends an operation whose transaction has been committed.
func (k *cluster) committed(m *machine, r sql.Reply) {
	if r.RolledBack {
		k.fail(m, sql.Reply{Code: sql.Conflict})
		return
	}
	k.settle(m)
}

// settle ends an operation as was decided.
func (k *cluster) settle(m *machine) {
	switch {
	case m.op == lock.Release, !m.ended.Held && m.op != lock.Acquire:
		m.held = false
	case m.ended.Held:
		k.hold(m)
	}
	k.finish(m, m.ended)
}

// hold has a client believe in its lease, for as long as that lasts.
func (k *cluster) hold(m *machine) {
	if m.age = m.fresh; k.Deadline == fromAnswer {
		m.age = 0
	}
	if m.held = m.age < k.belief(); !m.held { // it was over before it could be told
		m.ended = lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	}
}

// belief is for how long a client believes in a lease.
func (k *cluster) belief() int64 {
	if k.Deadline == never {
		return math.MaxInt64
	}
	return int64(k.Lease)
}

// pass has a client's clock go on, and reports whether its belief in a lease has ended by that.
func (m *machine) pass(ms, lease int64) (ended bool) {
	m.fresh, m.age = m.fresh+ms, m.age+ms
	ended = m.held && m.age >= lease
	m.held = m.held && !ended
	return ended
}

// overlooked reports whether a machine takes no notice of an error, and goes on as if it had what it asked for.
func (k *cluster) overlooked(m *machine, r *sql.Reply) bool {
	how := k.OnFailure
	if r.Code == sql.LockTimeout {
		how = k.OnTimeout
	}
	if how != proceed || r.Code == sql.Gone || r.Code == sql.InFailed || m.phase == committing {
		return false
	}
	*r = sql.Reply{Count: 1, Nums: 1 << (m.num & 31)}
	return true
}

// fail is what follows an error: the transaction is rolled back, and tried again.
func (k *cluster) fail(m *machine, r sql.Reply) {
	if r.Code == sql.Gone {
		k.lose(m)
		return
	}
	m.tries++
	m.again = int(m.tries) <= k.Retries
	m.phase, m.ended = undoing, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}
}

// undone ends an operation after a rollback, or begins it again.
func (k *cluster) undone(m *machine) {
	if m.again {
		m.again, m.added = false, false
		k.enter(m)
		return
	}
	k.finish(m, m.ended)
}

// lose is a connection that is over, as far as the client can tell. What it believes to hold goes on: its row is still there.
func (k *cluster) lose(m *machine) {
	m.linked = false
	if m.result.Outcome == lock.Pending && m.phase != idle {
		k.finish(m, lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut})
		if m.op == lock.Release {
			m.held = false
		}
	}
}
