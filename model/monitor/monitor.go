package monitor

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Monitor watches one execution of which the broker's truth is known and finds the properties that
// it violates. It is a plain value: copying it forks the watch. Every method is one thing that
// happened; the world calls them in order.
//
// Beside the properties it keeps a witness of linearizability: as long as every operation can be
// placed at a moment at which the truth allowed it, that placement is a linearization and no search
// is needed. Once Witnessed is false the history has to be checked by itself.
type Monitor struct {
	Found           property.Set // properties seen violated
	Exercised       property.Set // properties that had something to judge
	Witnessed       bool         // truth is a linearization so far, under the weak semantics of a failed acquire
	WitnessedStrong bool         // and under the strong ones
	Checks          *Counts      // how often each property was put to the test, if somebody counts
	Overlap         int64        // longest overlap of a stale belief with another's, in virtual milliseconds
	Overlaps        int32        // the same in commands
	OwnClock        int64        // the longest overlap by the clock of the client that believed
	Kept            bool         // somebody has kept what [Monitor.Robbed] lets it keep

	fresh     [4]property.Violation // recorded since TakeNew
	freshly   uint8
	kind      lock.Kind
	hold      string // see Speaks
	retries   uint8  // the bounds of the options: claims, administration mutex, polls
	tries     uint8
	polls     uint16
	shared    bool
	unbound   bool  // those are not known
	excused   uint8 // those clients of which leaks are not judged
	robbed    uint8 // those clients that have lost a channel unasked, and may keep the administration mutex
	keeps     uint8 // those of them that may keep what they hold
	assured   uint8 // those clients that were told within their call that they have what they verify
	drains    bool  // who takes slots away waits for their holders
	foreign   bool  // clients are other people's
	unguarded bool  // it is not known by what administrators exclude one another
	n         uint8
	ended     uint8 // the owners whose connections have ended at this moment
	dying     uint8 // the clients that have crashed at this moment, and were not administering
	told      uint8 // the client that has just been told what it waited for: the last acknowledgement of those whom it robbed
	traits    lock.Traits
	now       int64
	clients   [lock.MaxClients]watch
	locks     [lock.MaxLocks]lockWatch
}

// Counts has a number for every property, users' own among them.
type Counts [property.Most]int

// watch is what is known of one client. What is remembered for some properties only stands in groups; a search keeps a
// group or forgets it as a whole (see [retained]).
type watch struct {
	op        lock.Op
	lock      uint8
	arg       uint8
	alive     bool // it has not crashed
	connected bool // the broker has the connection that it believes in
	believed  uint8
	released  bool // it gave that up by itself in the call at hand, which has yet to say so

	renewal
	loss
	moves
	theDead
	loosened
	overlap
	timing
	lease

	// Of the call at hand.
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

// What is remembered from call to call.
type (
	renewal struct {
		gone bool // believed is removed at some moment since it was granted
	}
	loss struct {
		dropped bool // its connection was lost, not by its own doing, and it has not opened another
	}
	moves struct {
		moved bool // it has opened another since it was granted what it believes to hold
	}
	theDead struct {
		left  uint8 // the slot it believed to hold when it crashed
		spent bool  // a slot was lost by its crash
	}
	// loosened is what a history of leases leaves open of a client; see [watch.loosen].
	loosened struct {
		loose  uint16 // slots of the client's that it may lose at any moment
		owed   bool   // an acquire without an answer has been granted nothing so far, and may be still
		again  uint16 // slots that a verify or refresh without an answer may still get anew
		lost   bool   // in the call at hand the slot that it asks about went, and not because its time was over
		unsaid bool   // it has given the slot up, by a release, or got it anew, by a verify or refresh, and has to say so
	}
	// overlap is measured and judges nothing: no search keeps it.
	overlap struct {
		since int64 // when its stale belief began to overlap with another's; 0 is not at all
		steps int32 // commands since then
		then  int32 // how far its clock was ahead then
	}
)

// What is remembered of a call: sets of what was true of slots at some moment of it, and what it did and met.
type (
	existence struct {
		existed uint16 // the slot existed
		absent  uint16 // the slot did not exist
	}
	holders struct {
		busy  uint16 // the slot was taken or did not exist
		empty uint16 // nobody had the slot
		full  bool   // every slot was taken
	}
	grants struct {
		granted uint16 // the slot was granted to this client by this call
		claimed uint16 // it existed and was this client's, granted by this call
		undone  uint16 // it did not exist and was this client's, granted by this call
		blocked bool   // a command of it waits inside the server, and may be granted by anybody's doing
	}
	own struct {
		mine uint16 // the slot was this client's
		held uint16 // the slot existed and was this client's
	}
	counts struct {
		counted uint16 // bit n: there were n slots
		grown   uint8  // slots that this call added
		shrunk  uint8
	}
	waiting struct {
		waited  bool   // somebody was administering, or died doing so
		refused uint8  // claims that met RESOURCE_LOCKED
		asked   uint16 // looks at what it waits for: the administration mutex, or a B queue
	}
	trouble struct {
		troubled bool // the link broke, not by its own doing, or a reply was lost
	}
	admins struct {
		working     bool // it has touched A queues
		interleaved bool // somebody else administered meanwhile
		alone       bool // no other administrative operation so far
	}
	claims struct {
		declared uint16 // slots whose B queue this call declared
	}
	costs struct {
		linked bool  // the link was up when the call began
		mended uint8 // channels that broke for whatever reason
		wasted bool  // one of them for no better reason than the operation's own
		cost   Cost
	}
	damage struct {
		deleted bool // this call removed a slot
	}
	staleness struct {
		stale bool // the connection was dropped already when the call began
	}
	// breakage decides in which class of costs the call falls, and judges nothing: no search keeps it.
	breakage struct {
		broken bool // a channel broke for no reason of the operation's
	}
)

// lockWatch is what is known of one lock.
type lockWatch struct {
	truth    Truth
	expected int8 // how many slots there should be; -1 is unknown
	// start is the slots at first, where an execution is meant to begin with holes: see BeginsWithHoles. It does not
	// change, and is no part of a state.
	start uint16
	// Of leases: the largest fencing token granted, and how many grants were counted.
	token  uint32
	grants uint8
}

// Cost is what one operation took.
type Cost struct {
	Commands    uint16
	Trips       uint16 // round trips: batches written before waiting
	Replies     uint16 // round trips if every reply were waited for
	Channels    uint8  // channels opened
	Connections uint8  // connections opened
}

// Reset begins a new execution of n clients of locks of one kind, with what their options say of them.
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

// BeginsWithHoles says that a lock is meant to have the holes that it has at first. They are nobody's fault until its slots
// change.
func (m *Monitor) BeginsWithHoles(l uint8) { m.locks[l].start = m.locks[l].truth.Exists }

// Unbound says that the options which bound the attempts of operations are not known: how often one tries
// is not judged, and giving up is not until somebody was in the way.
func (m *Monitor) Unbound() { m.unbound = true }

// Excuse says that client c, through no fault of its own, does not know what it has. What the server has under its session
// besides what it holds is then not judged.
func (m *Monitor) Excuse(c uint8) { m.excused |= 1 << (c - 1) }

// Robbed says that client c has lost a channel by which it gives back exclusive queues, which stay its own: RabbitMQ closes a channel
// for what it was sent there and for deliveries that are not acknowledged, and does neither here. Whether it keeps the queue by which
// it administers is not judged then, nor, where slots are held by such queues, what it keeps of them.
func (m *Monitor) Robbed(c uint8, holds bool) {
	m.robbed |= 1 << (c - 1)
	if holds {
		m.Excuse(c)
		m.keeps |= 1 << (c - 1)
	}
}

// Assured is client c being told something about its lock, within its call: if it has what it verifies at that moment, its yes is
// right whatever happens to it before it says so.
func (m *Monitor) Assured(c uint8) {
	w := &m.clients[c-1]
	if t := &m.locks[w.lock].truth; w.op == lock.Verify && t.Owner[w.arg] == m.owner(c) && t.Exists&(1<<w.arg) != 0 {
		m.assured |= 1 << (c - 1)
	}
}

// Foreign says that clients are other people's, who may go about it in ways of their own: they may look at slots before they have the
// administrators' mutex, and release by several commands. Slots are counted also where they are added while somebody else administers
// them and fails, or adds some, too: searches do not, as that is one more thing that states differ by. And they may be counted as they
// were or will be while somebody is at work on them.
func (m *Monitor) Foreign() { m.foreign = true }

// Drains says that slots are taken away from nobody: an administrator may fail because somebody holds one.
func (m *Monitor) Drains() { m.drains = true }

// Unguarded says that it is not known by what administrators exclude one another: whether one is told rightly that another is at
// work is not judged.
func (m *Monitor) Unguarded() { m.unguarded = true }

// Speaks says what violations call what makes a client a holder; "" is an exclusive queue.
func (m *Monitor) Speaks(w lock.Words) { m.hold = w.Hold }

// Has says what traits the locks have.
func (m *Monitor) Has(t lock.Traits) { m.traits = t }

// number is how many slots a lock has. Permits are so many as there are, whatever their numbers.
func (m *Monitor) number(t *Truth) int8 {
	if m.traits.Has(lock.Permits) {
		return int8(bits.OnesCount16(t.Exists))
	}
	return int8(t.Count())
}

// whole reports whether the slots are there without a hole: among the numbers of permits holes say nothing.
func (m *Monitor) whole(t *Truth) bool { return t.Contiguous() || m.traits.Has(lock.Permits) }

// otherSlots reports whether the slots are others than before: as many permits are the same, whatever their numbers.
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

// TakeNew are the violations recorded since the last call. The slice is good until the next one is.
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

// Witnesses reports whether the truth is a witness of linearizability so far, under what a failed acquire is taken to promise.
func (m *Monitor) Witnesses(s property.FailedAcquire) bool {
	return m.WitnessedStrong || m.Witnessed && s == property.Weak
}

// dropWitness gives up the witness of linearizability: the history will be searched.
func (m *Monitor) dropWitness() { m.Witnessed, m.WitnessedStrong = false, false }

// Begin is an invocation by client c of lock l.
func (m *Monitor) Begin(c, l uint8, op lock.Op, arg uint8, linked bool) {
	w := &m.clients[c-1]
	m.told = 0
	m.assured &^= 1 << (c - 1)
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
		if m.traits != 0 { // who took it from a client that does not use it any more has to ask nobody
			m.gaveUp(c, w)
		}
	}
	if op == lock.Verify || op == lock.Refresh {
		w.arg = w.believed
	}
	m.meet(c, w)
	m.observe(c, w)
}

// meet tells administrative operations that are under way of one that begins.
func (m *Monitor) meet(c uint8, w *watch) {
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
			if !m.foreign || o.op != lock.Create || w.op != lock.Create { // several creates come to the largest of them
				o.alone, w.alone = false, false
			}
		}
	}
}

// observe adds what is true now to what was true at some moment of a call.
func (m *Monitor) observe(c uint8, w *watch) {
	t := &m.locks[w.lock].truth
	w.existed |= t.Exists
	w.absent |= AllSlots &^ t.Exists
	w.busy |= AllSlots &^ t.Free()
	w.empty |= AllSlots &^ t.Taken
	w.counted |= 1 << bits.OnesCount16(t.Exists)
	m.countAside(w)
	w.full = w.full || t.Free() == 0
	w.waited = w.waited || m.administered(w.lock, t)
	mine := t.owned(m.owner(c))
	w.mine |= mine
	w.held |= t.Exists & mine
	w.claimed |= t.Exists & mine & w.granted
	w.undone |= w.granted & mine &^ t.Exists
	if m.traits != 0 {
		m.sate(w, t)
	}
}

// countAside adds what other people's clients may count while administrators are at work: slots may be counted by something else than
// what they are held by, which is changed before that or after it.
func (m *Monitor) countAside(w *watch) {
	if m.foreign && w.op == lock.Count {
		w.counted |= m.countable(w.lock)
	}
}

// CountsAny says that client c may rightly be told any number of slots: it is not known which of them count.
func (m *Monitor) CountsAny(c uint8) { m.clients[c-1].counted = ^uint16(0) }

// countable are the numbers of slots of a lock that there may have been, or may be yet, while administrators are at work on it.
func (m *Monitor) countable(l uint8) (all uint16) {
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; o.alive && o.lock == l && o.op.Administrative() {
			least, most := o.between()
			all |= 2<<most - 1<<least
		}
	}
	return all
}

// between is how many slots there may have been, or may be yet, while the client administers them.
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

// administered reports whether somebody has good reason to hold the administration mutex: they are
// administering, or counting permits, or dead without the broker knowing. Of a lock whose bounds are not known, whatever is
// done may take it.
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

// owner is the client that stands for a client's connection: the first, where all share one.
func (m *Monitor) owner(c uint8) uint8 {
	if m.shared {
		return 1
	}
	return c
}

// owned is the set of slots that a client's connection has.
func (t *Truth) owned(c uint8) (set uint16) {
	for s := uint16(1); s <= Slots; s++ {
		if t.Owner[s] == c {
			set |= 1 << s
		}
	}
	return set
}

// At sets the time, in virtual milliseconds: a new moment begins.
func (m *Monitor) At(now int64) { m.now, m.ended, m.dying = now, 0, 0 }

// Client is what is known of a client, as far as every state of a search knows it.
type Client struct {
	Lock      uint8
	Op        lock.Op // under way, or NoOp
	Believes  uint8   // the slot that it believes to hold; 0 is none
	Alive     bool
	Connected bool // the server has the connection under which it was granted that, if it believes to hold anything
}

// Client is what is known of a client.
func (m *Monitor) Client(c uint8) Client {
	w := &m.clients[c-1]
	return Client{w.lock, w.op, w.believed, w.alive, w.connected || w.believed == 0}
}

// Truth is what the server has of a lock.
func (m *Monitor) Truth(l uint8) Truth { return m.locks[l].truth }
