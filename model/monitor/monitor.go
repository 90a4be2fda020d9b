package monitor

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Monitor watches one execution and finds the properties that it violates. It always knows the broker's state. A
// Monitor is a plain value: a copy is independent. Each method is one event; the world calls the methods in order.
//
// The monitor also keeps a witness of linearizability. If each operation can be placed at a moment at which the
// broker's state allowed it, the placements are a linearization and no search is needed. Once Witnessed is false, the
// history is checked on its own.
type Monitor struct {
	Found           property.Set // properties seen violated
	Exercised       property.Set // properties put to the test
	Witnessed       bool         // the witness of linearizability stands, under the weak semantics of a failed acquire
	WitnessedStrong bool         // the witness also stands under the strong semantics
	Checks          *Counts      // number of checks of each property; may be nil
	Overlap         int64        // longest overlap of a stale belief with another client's hold, in virtual milliseconds
	Overlaps        int32        // the same in commands
	OwnClock        int64        // the longest overlap by the clock of the client that believed

	fresh    [4]property.Violation // recorded since TakeNew
	freshly  uint8
	kind     lock.Kind
	hold     string // see Speaks
	retries  uint8  // the options' bounds of attempts: claims, administration mutex, polls
	tries    uint8
	polls    uint16
	shared   bool
	unbound  bool // the bounds are not known
	drains   bool // administrators wait for the holders of the slots that they remove
	foreign  bool // clients are external
	n        uint8
	ended    uint8 // the set of owners whose connections have ended at this moment
	dying    uint8 // the set of clients that crashed at this moment, except administrators
	answered uint8 // the client that has just received its victims' last acknowledgement
	traits   lock.Traits
	now      int64
	clients  [lock.MaxClients]watch
	locks    [lock.MaxLocks]lockWatch
}

// Counts has a number for every property, custom properties included.
type Counts [property.Most]int

// watch is the monitor's knowledge of one client. Fields that only some properties need are in groups; a search keeps
// or drops a group as a whole (see [retained]).
type watch struct {
	op        lock.Op
	lock      uint8
	arg       uint8
	alive     bool // it has not crashed
	connected bool // the broker has the connection on which the client's belief rests
	believed  uint8
	released  bool // the current call has given up the belief, but has not returned yet

	renewal
	loss
	moves
	theDead
	loosened
	overlap
	timing
	lease

	// The current call.
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

// State that lasts from call to call.
type (
	renewal struct {
		gone bool // the believed slot was removed at some moment since its grant
	}
	loss struct {
		dropped bool // the client lost its connection without cause, and has not opened another
	}
	moves struct {
		moved bool // the client has opened a connection since it was granted the believed slot
	}
	theDead struct {
		left  uint8 // the slot that it believed it held when it crashed
		spent bool  // its crash has lost a slot
	}
	// loosened is what a history of leases leaves open about a client; see [watch.loosen].
	loosened struct {
		loose  uint16 // slots that the client may lose at any moment
		owed   bool   // an unanswered acquire may still be granted a slot
		again  uint16 // slots that an unanswered verify or refresh may still reacquire
		lost   bool   // the slot of the current verify or refresh was lost before the end of its lease
		unsaid bool   // the reply has to report that a release gave the slot up, or that a verify or refresh reacquired it
	}
	// overlap is a measurement. No verdict needs it, so no search keeps it.
	overlap struct {
		since int64 // when the client's stale belief began to overlap with another's hold; 0 is no overlap
		steps int32 // number of commands since then
		then  int32 // how far the client's clock was ahead at that time
	}
)

// State of one call: sets of slots for which something was true at some moment of the call, the call's effects, and
// its obstacles.
type (
	existence struct {
		existed uint16 // the slot existed
		absent  uint16 // the slot did not exist
	}
	holders struct {
		busy  uint16 // the slot was taken or did not exist
		empty uint16 // the slot had no holder
		full  bool   // every slot was taken
	}
	grants struct {
		granted uint16 // the slot was granted to this client by this call
		claimed uint16 // the slot existed and belonged to this client, granted by this call
		undone  uint16 // the slot was missing and belonged to this client, granted by this call
		blocked bool   // a command of the call is blocked in the server; any client's step may complete it
	}
	own struct {
		mine uint16 // the slot belonged to this client
		held uint16 // the slot existed and belonged to this client
	}
	counts struct {
		counted uint16 // bit n: there were n slots
		grown   uint8  // slots that this call added
		shrunk  uint8
	}
	waiting struct {
		waited  bool   // another client was administering, or crashed while administering
		refused uint8  // claims that RESOURCE_LOCKED refused
		asked   uint16 // polls of the administration mutex or of a B queue
	}
	trouble struct {
		troubled bool // the link broke without cause, or a reply was lost
	}
	admins struct {
		working     bool // the operation has touched A queues
		interleaved bool // another client administered during the call
		alone       bool // there was no other administrative operation so far
	}
	claims struct {
		declared uint16 // slots whose B queue this call declared
	}
	costs struct {
		linked bool  // the link was up when the call began
		mended uint8 // channels that broke, for any reason
		wasted bool  // the operation itself broke one of them without need
		cost   Cost
	}
	damage struct {
		deleted bool // this call removed a slot
	}
	staleness struct {
		stale bool // the connection was already dropped when the call began
	}
	// breakage decides the cost class of the call. No verdict needs it, so no search keeps it.
	breakage struct {
		broken bool // a channel broke, but not because of the operation's commands
	}
)

// lockWatch is the monitor's knowledge of one lock.
type lockWatch struct {
	truth    Truth
	expected int8 // expected number of slots; -1 is unknown
	// start is the initial set of slots if the execution begins with intended holes: see BeginsWithHoles. It does not
	// change, and is no part of a state.
	start uint16
	// Leases only: the largest fencing token granted, and the number of grants.
	token  uint32
	grants uint8
	// The lock's state when the current action began, and the states that it has passed through since. A search asks for
	// them after the action; they are no part of a state.
	before, passed Seen
}

// Cost is the cost of one operation.
type Cost struct {
	Commands    uint16
	Trips       uint16 // round trips: batches written before waiting
	Replies     uint16 // round trips if the client waited for every reply
	Channels    uint8  // channels opened
	Connections uint8  // connections opened
}

// Reset begins a new execution of n clients of locks of one kind. o are the facts of the locks' options.
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

// BeginsWithHoles says that a lock's holes at the start are intended. They are no violation until the slots change.
func (m *Monitor) BeginsWithHoles(l uint8) { m.locks[l].start = m.locks[l].truth.Exists }

// Unbound says that the maximum numbers of attempts are not known. They are then not judged, and an operation may
// give up after any obstacle.
func (m *Monitor) Unbound() { m.unbound = true }

// Foreign says that the clients are external. They may look at slots before they have the administration mutex, and
// release with several commands. An add also counts if another administrator fails or adds slots during the call;
// searches skip this rule, since it would make more states differ. A count during administration may return any
// number between the old and the new one.
func (m *Monitor) Foreign() { m.foreign = true }

// Drains says that an administrator removes only slots without a holder, and may fail because a slot has one.
func (m *Monitor) Drains() { m.drains = true }

// Speaks sets the words in which violations name the thing that makes a client a holder; "" is an exclusive queue.
func (m *Monitor) Speaks(w lock.Words) { m.hold = w.Hold }

// Has sets the traits of the locks.
func (m *Monitor) Has(t lock.Traits) { m.traits = t }

// number is the number of a lock's slots. Permits are counted without regard to their numbers.
func (m *Monitor) number(t *Truth) int8 {
	if m.traits.Has(lock.Permits) {
		return int8(bits.OnesCount16(t.Exists))
	}
	return int8(t.Count())
}

// whole reports whether the slots have no hole. Permits have no holes.
func (m *Monitor) whole(t *Truth) bool { return t.Contiguous() || m.traits.Has(lock.Permits) }

// otherSlots reports whether the set of slots changed. For permits, only their number counts.
func (m *Monitor) otherSlots(old, t *Truth) bool {
	return old.Exists != t.Exists && !(m.traits.Has(lock.Permits) && m.number(old) == m.number(t))
}

// violate records a violation.
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

// require violates a property unless the condition holds.
func (m *Monitor) require(p property.Property, ok bool, client, other, slot uint8, detail string) {
	if ok {
		m.exercise(p)
		return
	}
	m.violate(p, client, other, slot, detail)
}

// Witnesses reports whether the witness of linearizability stands, under the given semantics of a failed
// acquire.
func (m *Monitor) Witnesses(s property.FailedAcquire) bool {
	return m.WitnessedStrong || m.Witnessed && s == property.Weak
}

// dropWitness gives up the witness of linearizability: the history will be searched.
func (m *Monitor) dropWitness() { m.Witnessed, m.WitnessedStrong = false, false }

// Begin is the invocation of an operation on lock l by client c.
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
		if m.traits != 0 { // a client that takes the slot need not ask a client that is releasing
			m.gaveUp(c, w)
		}
	}
	if op == lock.Verify || op == lock.Refresh {
		w.arg = w.believed
	}
	m.meet(c, w)
	m.observe(c, w)
}

// meet marks a beginning operation and the operations under way as concurrent.
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
			if !m.foreign || o.op != lock.Create || w.op != lock.Create { // several creates have the effect of the largest
				o.alone, w.alone = false, false
			}
		}
	}
}

// observe adds the lock's current state to the sets of a call.
func (m *Monitor) observe(c uint8, w *watch) {
	t, seen := &m.locks[w.lock].truth, m.see(w.lock)
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

// countAside adds the numbers that external clients may count during administration. Their count may read a resource
// other than the slots, which an administrator changes before or after the slots.
func (m *Monitor) countAside(w *watch) {
	if m.foreign && w.op == lock.Count {
		w.counted |= m.countable(w.lock)
	}
}

// countable are the numbers of slots that a lock may have had or may get during administration.
func (m *Monitor) countable(l uint8) (all uint16) {
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; o.alive && o.lock == l && o.op.Administrative() {
			least, most := o.between()
			all |= 2<<most - 1<<least
		}
	}
	return all
}

// between is the range of the number of slots during the client's administrative operation.
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

// administered reports whether the administration mutex has a rightful holder: a client that administers or counts
// permits, or a crashed client or half-open connection. If the lock's bounds are not known, any operation may take
// the mutex.
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

// owner is the client that owns the connection of client c: client 1 if all share one connection.
func (m *Monitor) owner(c uint8) uint8 {
	if m.shared {
		return 1
	}
	return c
}

// owned is the set of slots that belong to a client's connection.
func (t *Truth) owned(c uint8) (set uint16) {
	for s := uint16(1); s <= Slots; s++ {
		if t.Owner[s] == c {
			set |= 1 << s
		}
	}
	return set
}

// At sets the time, in virtual milliseconds, and begins a new moment.
func (m *Monitor) At(now int64) { m.now, m.ended, m.dying = now, 0, 0 }

// Client is the part of a client's state that every state of a search keeps.
type Client struct {
	Lock      uint8
	Op        lock.Op // the operation under way; NoOp is none
	Believes  uint8   // the slot that the client believes it holds; 0 is none
	Alive     bool
	Connected bool // the server has the connection under which the believed slot was granted; true without a belief
}

// Client returns the state of a client.
func (m *Monitor) Client(c uint8) Client {
	w := &m.clients[c-1]
	return Client{w.lock, w.op, w.believed, w.alive, w.connected || w.believed == 0}
}

// Truth is the server's state of a lock.
func (m *Monitor) Truth(l uint8) Truth { return m.locks[l].truth }
