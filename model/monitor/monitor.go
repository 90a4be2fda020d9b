package monitor

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Monitor watches one execution and finds the properties that it violates. It always knows the broker's state. A
// Monitor is a plain value: a copy is independent. The simulated world calls a method for each event, in order.
//
// The monitor also builds a witness of linearizability: it places each operation at a moment of its call at which the
// broker's state allowed its result. If it can place all operations, no search for a linearization is needed. Once
// Witnessed is false, package linear has to judge the history.
type Monitor struct {
	Found           property.Set // properties that were violated
	Exercised       property.Set // properties that were checked at least once
	Witnessed       bool         // a linearization of the events so far is known (weak semantics of a failed acquire)
	WitnessedStrong bool         // a linearization is also known under the strong semantics
	Checks          *Counts      // number of checks of each property; may be nil
	Overlap         int64        // longest overlap of a stale belief with another client's hold, in virtual milliseconds
	Overlaps        int32        // the longest such overlap in commands
	OwnClock        int64        // the longest such overlap by the believing client's own clock, in milliseconds

	fresh    [4]property.Violation // violations since the last TakeNew; freshly is their number
	freshly  uint8
	kind     lock.Kind
	hold     string // what a holder owns: see Speaks
	retries  uint8  // further attempts allowed: retries of claims, tries of the administration mutex, polls of wait
	tries    uint8
	polls    uint16
	shared   bool
	unbound  bool // retries, tries and polls are unknown, so that attempts are not limited
	drains   bool // administrators wait for the holders of slots that they remove
	foreign  bool // the clients are external
	n        uint8
	ended    uint8 // set of clients whose connections have ended since the last At
	dying    uint8 // set of clients, except administrators, that have crashed since the last At
	answered uint8 // the client that has just got the last acknowledgement that it waited for
	traits   lock.Traits
	now      int64
	clients  [lock.MaxClients]watch
	locks    [lock.MaxLocks]lockWatch
}

// Counts has a number for each property, including custom ones.
type Counts [property.Most]int

// watch is what the monitor knows of one client. Fields that only some properties need form groups. A search keeps or
// drops each group as a whole (see [retained]).
type watch struct {
	op        lock.Op
	lock      uint8
	arg       uint8
	alive     bool // the client has not crashed
	connected bool // the broker still has the connection on which the believed slot was granted
	believed  uint8
	released  bool // a command of the call has given the slot up, but the call has not returned

	renewal
	loss
	moves
	theDead
	loosened
	overlap
	timing
	lease

	// Groups for the operation under way.
	existence
	holders
	grants
	own
	counts
	waiting
	trouble
	admins
	claims
	costs
	damage
	staleness
	breakage
	asking
}

// Groups that matter longer than one operation.
type (
	renewal struct {
		gone bool // the believed slot has been removed at some moment since its grant
	}
	loss struct {
		dropped bool // a fault ended the client's connection, and it has not opened another
	}
	moves struct {
		moved bool // the client has opened a connection since the believed slot was granted
	}
	theDead struct {
		left  uint8 // the slot that the client believed it held when it crashed; 0 is none
		spent bool  // a slot stopped existing because of the client's crash
	}
	// loosened has what the history does not say about a client's holds, if the lock has leases; see [watch.loosen].
	loosened struct {
		loose  uint16 // slots that the history allows the client to lose at any moment
		owed   bool   // an unanswered acquire may still be granted a slot
		again  uint16 // slots that an unanswered verify or refresh may still acquire again
		lost   bool   // the slot of the verify or refresh under way was lost before its lease ended
		unsaid bool   // a slot was given up or acquired again during the call, and no answer has reported this yet
	}
	// overlap measures a stale belief. No property needs it, so that no search keeps it.
	overlap struct {
		since int64 // start of an overlap with another client's hold, in virtual milliseconds; 0 is no overlap
		steps int32 // number of commands since the overlap began
		then  int32 // how far the client's clock was ahead when the overlap began, in milliseconds
	}
)

// Groups for the operation under way. A set of slots has those for which something was true at some moment of the call.
type (
	existence struct {
		existed uint16 // slots that existed
		absent  uint16 // slots that did not exist
	}
	holders struct {
		busy  uint16 // slots that were taken, pending or did not exist
		empty uint16 // slots that had no holder
		full  bool   // at some moment no slot was free
	}
	grants struct {
		granted uint16 // slots that this call was granted
		claimed uint16 // granted slots that existed while this client had them
		undone  uint16 // granted slots that did not exist while this client had them
		blocked bool   // a command waits in the server; another client's step may let it continue
	}
	own struct {
		mine uint16 // slots that this client had
		held uint16 // slots that existed while this client had them
	}
	counts struct {
		counted uint16 // numbers of slots that the lock had: bit n is n slots
		grown   uint8  // number of slots that this call added
		shrunk  uint8
	}
	waiting struct {
		waited  bool   // another client administered, or had crashed while administering
		refused uint8  // number of claims refused with RESOURCE_LOCKED
		asked   uint16 // number of polls of the administration mutex or of a B queue
	}
	trouble struct {
		troubled bool // a fault broke the link, or a reply was lost
	}
	admins struct {
		working     bool // this call has sent a command on an A queue
		interleaved bool // another client has changed slots since this call touched them
		alone       bool // no other administrative operation has overlapped this one
	}
	claims struct {
		declared uint16 // slots whose B queue this call has declared
	}
	costs struct {
		linked bool  // the client had a connection and channel when the call began
		mended uint8 // number of channels that broke during the call
		wasted bool  // a command of this call broke a channel without need
		cost   Cost
	}
	damage struct {
		deleted bool // this call removed a slot
	}
	staleness struct {
		stale bool // the believed hold was already lost when the call began
	}
	// breakage is for the cost class of the call. No property needs it, so that no search keeps it.
	breakage struct {
		broken bool // a channel broke, and not by a refused claim
	}
)

// lockWatch is what the monitor knows of one lock.
type lockWatch struct {
	truth    Truth
	expected int8 // number of slots that the lock should have; -1 is unknown
	// start is the set of slots at the beginning, if it intentionally has holes: see BeginsWithHoles. It never changes,
	// so that states do not contain it.
	start uint16
	// For locks with traits: the largest fencing token granted, and the number of grants.
	token  uint32
	grants uint8
	// The states that the lock has passed through since the current action began. A search asks for them after the
	// action; they are no part of a state.
	passed Seen
}

// Cost is the cost of one operation: numbers of commands, round trips, channels and connections.
type Cost struct {
	Commands    uint16
	Trips       uint16 // round trips: commands sent after waiting for all earlier replies
	Replies     uint16 // round trips if the client waits for every reply
	Channels    uint8  // channels opened
	Connections uint8  // connections opened
}

// Reset begins a new execution with n clients and locks of type kind. o are facts of the locks' options, and locks the
// initial states.
func (m *Monitor) Reset(kind lock.Kind, o lock.Facts, n int, locks []Truth) {
	*m = Monitor{
		kind: kind, retries: uint8(o.Retries), tries: uint8(o.AdminRetries), polls: uint16(o.Polls),
		shared: o.SharedSession, n: uint8(n),
		Checks: m.Checks, Witnessed: true, WitnessedStrong: true,
	}
	for i := range m.clients[:n] {
		m.clients[i].alive, m.clients[i].connected = true, true
	}
	for i := range locks {
		m.locks[i] = lockWatch{truth: locks[i], expected: int8(locks[i].Count())}
	}
}

// BeginsWithHoles says that the holes among a lock's initial slots are intended. They are no violation until slots
// change.
func (m *Monitor) BeginsWithHoles(l uint8) { m.locks[l].start = m.locks[l].truth.Exists }

// Unbound says that the maximum numbers of attempts are unknown. They are then not judged, and an operation may give up
// if anything hindered it.
func (m *Monitor) Unbound() { m.unbound = true }

// Foreign says that the clients are external. They may look at slots before they have the administration mutex, and may
// release by several commands. Slots that an add adds are expected even if other administrators fail or add slots at
// the same time. Searches do not use this rule, since it would make more states differ. A count during administration
// may return any number between the old number of slots and the new one.
func (m *Monitor) Foreign() { m.foreign = true }

// Drains says that administrators remove only slots without a holder, and may fail because a slot has a holder.
func (m *Monitor) Drains() { m.drains = true }

// Speaks sets what violations call the thing whose owner holds a slot; "" means an exclusive queue.
func (m *Monitor) Speaks(w lock.Words) { m.hold = w.Hold }

// Has sets the traits of the locks.
func (m *Monitor) Has(t lock.Traits) { m.traits = t }

// number is the number of a lock's slots: all existing ones for permits, otherwise those before the first hole.
func (m *Monitor) number(t *Truth) int8 {
	if m.traits.Has(lock.Permits) {
		return int8(bits.OnesCount16(t.Exists))
	}
	return int8(t.Count())
}

// whole reports whether there is no hole among the slots. Permits cannot have holes.
func (m *Monitor) whole(t *Truth) bool { return t.Contiguous() || m.traits.Has(lock.Permits) }

// otherSlots reports whether the slots changed from old to t. Of permits only the number counts.
func (m *Monitor) otherSlots(old, t *Truth) bool {
	return old.Exists != t.Exists && !(m.traits.Has(lock.Permits) && m.number(old) == m.number(t))
}

// violate records a violation of property p, if it is the first one.
func (m *Monitor) violate(p property.Property, client, other, slot uint8, detail string) {
	m.exercise(p)
	if m.Found.Has(p) {
		return
	}
	m.Found = m.Found.With(p)
	v := property.Violation{Property: p, Kind: m.kind, Client: client, Other: other, Slot: slot, Detail: detail}
	if client > 0 {
		v.Lock = m.clients[client-1].lock
	}
	if int(m.freshly) < len(m.fresh) {
		m.fresh[m.freshly] = v
		m.freshly++
	}
}

// TakeNew returns the violations recorded since the last call. The slice is valid until the next call.
func (m *Monitor) TakeNew() []property.Violation {
	n := m.freshly
	m.freshly = 0
	return m.fresh[:n]
}

func (m *Monitor) exercise(p property.Property) {
	m.Exercised = m.Exercised.With(p)
	if m.Checks != nil {
		m.Checks[p]++
	}
}

// require counts a check of property p, and records a violation if ok is false.
func (m *Monitor) require(p property.Property, ok bool, client, other, slot uint8, detail string) {
	if ok {
		m.exercise(p)
		return
	}
	m.violate(p, client, other, slot, detail)
}

// Witnesses reports whether the monitor knows a linearization of the events so far, under the given semantics of failed
// acquires.
func (m *Monitor) Witnesses(s property.FailedAcquire) bool {
	return m.WitnessedStrong || m.Witnessed && s == property.Weak
}

// dropWitness records that the monitor no longer knows a linearization of the events, so that package linear has to
// judge the history.
func (m *Monitor) dropWitness() { m.Witnessed, m.WitnessedStrong = false, false }

// Begin is called when client c invokes an operation on lock number l. linked says that the client has a connection and
// a channel.
func (m *Monitor) Begin(c, l uint8, op lock.Op, arg uint8, linked bool) {
	w := &m.clients[c-1]
	m.answered = 0
	if l != w.lock {
		w.loosened = loosened{}
	}
	w.lost, w.unsaid = false, false
	*w = watch{
		op: op, lock: l, arg: arg, alive: w.alive, connected: w.connected || w.believed == 0, believed: w.believed,
		renewal: w.renewal, loss: w.loss, moves: moves{w.moved && w.believed > 0}, loosened: w.loosened, overlap: w.overlap, timing: w.timing,
		costs: costs{linked: linked}, admins: admins{alone: true},
		staleness: staleness{w.believed > 0 && m.stale(w)}, trouble: trouble{w.dropped}, lease: w.lease,
	}
	if op == lock.Acquire {
		w.stated, w.over = arg, false
	}
	if op == lock.Release {
		w.arg, w.believed = w.believed, 0
		if m.traits != 0 { // a client that takes the slot away need not ask a client that is releasing it
			m.gaveUp(c, w)
		}
	}
	if op == lock.Verify || op == lock.Refresh {
		w.arg = w.believed
	}
	m.meet(c, w)
	m.observe(c, w, m.see(w.lock))
}

// meet records that client c's new operation overlaps the operations under way on the same lock.
func (m *Monitor) meet(c uint8, w *watch) {
	if w.op.Administrative() {
		m.locks[w.lock].passed.Begun = true
	}
	for i := range m.clients[:m.n] {
		o := &m.clients[i]
		if uint8(i)+1 == c || o.lock != w.lock {
			continue
		}
		if m.traits != 0 && o.op != lock.NoOp {
			o.crowded, w.crowded = true, true
		}
		if o.op.Administrative() && w.op.Administrative() {
			o.waited, w.waited = true, true
			if !m.foreign || o.op != lock.Create || w.op != lock.Create { // two creates: the larger one decides
				o.alone, w.alone = false, false
			}
		}
	}
}

// observe adds the lock's present state to the sets of the call of client c. seen is what every client can observe of it.
func (m *Monitor) observe(c uint8, w *watch, seen Seen) {
	t := &m.locks[w.lock].truth
	w.existed |= seen.Existed
	w.absent |= seen.Absent
	w.busy |= seen.Busy
	w.empty |= seen.Empty
	w.counted |= seen.Counted
	m.countAside(w)
	w.full = w.full || seen.Full
	w.waited = w.waited || seen.Waited
	mine := t.owned(m.owner(c))
	w.mine |= mine
	w.held |= t.Exists & mine
	w.claimed |= t.Exists & mine & w.granted
	w.undone |= w.granted & mine &^ t.Exists
	if m.traits != 0 {
		m.sate(w, t)
	}
}

// countAside adds the numbers of slots that an external client's count may return during administration. The client may
// read another resource than the slots, which an administrator changes earlier or later than the slots.
func (m *Monitor) countAside(w *watch) {
	if m.foreign && w.op == lock.Count {
		w.counted |= m.countable(w.lock)
	}
}

// countable are the numbers of slots, as bits, that a count may return while clients administer the lock.
func (m *Monitor) countable(l uint8) (all uint16) {
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; o.alive && o.lock == l && o.op.Administrative() {
			least, most := o.between()
			all |= 2<<most - 1<<least
		}
	}
	return all
}

// between is the range of the number of slots while the client's administrative operation is under way.
func (w *watch) between() (least, most int) {
	least, most = bits.TrailingZeros16(w.counted), bits.Len16(w.counted)-1
	switch w.op {
	case lock.Create:
		most = max(most, int(w.arg))
	case lock.Add:
		most = min(max(most, least+int(w.arg)), Slots)
	case lock.Remove:
		least = max(0, min(least, most-int(w.arg)))
	case lock.Destroy:
		least = 0
	}
	return least, most
}

// administered reports whether a client rightly has the administration mutex. It may be a client that administers or
// counts permits, a crashed client, or a half-open connection. If the maximum numbers of attempts are unknown, it may
// be any client with an operation under way.
func (m *Monitor) administered(l uint8, t *Truth) bool {
	switch {
	case t.Admin == 0:
		return false
	case t.Admin&HalfOpen != 0:
		return true
	}
	for i := range m.clients[:m.n] {
		o := &m.clients[i]
		if m.owner(uint8(i)+1) == t.Admin && (!o.alive || o.lock == l && (o.op.Administrative() || m.traits.Has(lock.Permits) && o.op == lock.Count || m.unbound && o.op != lock.NoOp)) {
			return true
		}
	}
	return false
}

// owner is the number under which the server's state names client c as an owner: c, or 1 if all clients share a
// connection.
func (m *Monitor) owner(c uint8) uint8 {
	if m.shared {
		return 1
	}
	return c
}

// owned is the set of slots whose owner is client c.
func (t *Truth) owned(c uint8) (set uint16) {
	for s := uint16(1); s <= Slots; s++ {
		if t.Owner[s] == c {
			set |= 1 << s
		}
	}
	return set
}

// At sets the present time in virtual milliseconds. It forgets which connections ended and which clients crashed
// before.
func (m *Monitor) At(now int64) { m.now, m.ended, m.dying = now, 0, 0 }

// Client is the part of a client's state that a search always keeps.
type Client struct {
	Lock      uint8
	Op        lock.Op // the operation under way; NoOp is none
	Believes  uint8   // the slot that the client believes it holds; 0 is none
	Alive     bool
	Connected bool // the server has the connection on which the believed slot was granted; true without a belief
}

// Client returns the state of a client.
func (m *Monitor) Client(c uint8) Client {
	w := &m.clients[c-1]
	return Client{w.lock, w.op, w.believed, w.alive, w.connected || w.believed == 0}
}

// Truth is the server's state of lock number l.
func (m *Monitor) Truth(l uint8) Truth { return m.locks[l].truth }
