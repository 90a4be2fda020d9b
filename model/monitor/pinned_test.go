package monitor_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// TestPinned gives monitors random events, for each type of lock. It compares violations, numbers of checks and sizes
// of encoded states with a file. Most of these events happen in no real lock.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, kind := range []lock.Kind{lock.Semaphore, lock.Mutex, lock.PersistentMutex} {
		f.Block(kind.String(), 3000, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(uint64(i/100)+100*uint64(kind), uint64(i%100)))
			newHappenings(t, kind, r).run(i, s)
		})
	}
	f.Compare("testdata/pinned.txt")
}

// happenings gives a monitor random events, many of which are consistent with one another.
type happenings struct {
	*rand.Rand
	t     *testing.T
	m     monitor.Monitor
	n     int
	locks []monitor.Truth
	of    []uint8 // by client: the number of its lock
	ops   []lock.Op
	held  []uint8
	now   int64

	traits lock.Traits
}

// leasing are combinations of traits that locks may have.
var leasing = []lock.Traits{
	lock.Leases, lock.Leases | lock.Deadlines, lock.Leases | lock.Limits | lock.Permits, lock.Limits | lock.Permits, lock.Leases | lock.Priorities,
	lock.Leases | lock.Priorities | lock.Acknowledged | lock.Deadlines, lock.Leases | lock.Tokens, lock.Leases | lock.Permits, lock.Priorities,
	lock.Leases | lock.Limits,
}

// named are the names of traits, separated by commas.
func named(traits lock.Traits) string {
	var names []string
	for i, name := range []string{"leases", "limits", "priorities", "permits", "tokens", "deadlines", "acknowledged"} {
		if traits.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// TestPinnedLeases is [TestPinned] for locks with traits.
func TestPinnedLeases(t *testing.T) {
	f := pinned.New(t)
	for n, traits := range leasing {
		f.Block(named(traits), 600, func(i int, s *pinned.Seen) {
			h := newHappenings(t, lock.Semaphore, rand.New(rand.NewPCG(1000+uint64(i/100)+10*uint64(n), uint64(i%100))))
			h.traits = traits
			h.m.Has(traits)
			if h.IntN(4) == 0 {
				h.m.Drains()
			}
			if h.IntN(4) == 0 {
				h.m.BeginsWithHoles(0)
			}
			h.run(i, s)
		})
	}
	f.Compare("testdata/leases.txt")
}

func newHappenings(t *testing.T, kind lock.Kind, r *rand.Rand) *happenings {
	h := &happenings{t: t, Rand: r, n: 1 + r.IntN(4), locks: make([]monitor.Truth, 1+r.IntN(lock.MaxLocks))}
	for l := range h.locks {
		h.locks[l].Exists = 1<<(1+r.IntN(4)) - 2
		if r.IntN(5) == 0 {
			h.locks[l].Exists = monitor.AllSlots
		}
		if kind == lock.Mutex {
			h.locks[l].Exists = 2
		}
	}
	o := lock.Facts{Retries: r.IntN(3), AdminRetries: r.IntN(3), Polls: r.IntN(3)}
	if r.IntN(4) == 0 {
		o.SharedSession = true
	}
	h.m.Checks = new(monitor.Counts)
	h.m.Reset(kind, o, h.n, h.locks)
	if r.IntN(4) == 0 {
		h.m.Unbound()
	}
	h.ops, h.held = make([]lock.Op, h.n), make([]uint8, h.n)
	for range h.n {
		h.of = append(h.of, uint8(r.IntN(len(h.locks))))
	}
	return h
}

// run gives a monitor 60 random events. i is the number of the input in its block. For some inputs, the first violation
// of each property becomes a row of the file.
func (h *happenings) run(i int, s *pinned.Seen) {
	var before property.Set
	for event := range 60 {
		h.now += int64(h.IntN(3))
		if h.IntN(3) > 0 {
			h.m.At(h.now)
		}
		if c := uint8(1 + h.IntN(h.n)); h.traits != 0 && h.IntN(3) == 0 {
			h.lease(c, h.of[c-1])
		} else {
			h.happen(c)
		}
		for _, v := range h.m.TakeNew() {
			s.Count(v.Property.String())
			tell := s.Printf
			if i%200 == 0 && !before.Has(v.Property) {
				tell = s.Rowf
			}
			before = before.With(v.Property)
			tell("%d, event %d: %s by client %d of lock %d: %s", i, event, v.Property, v.Client, v.Lock, v.Explain())
		}
		h.tell(s)
	}
	for p, n := range h.m.Checks[:property.Count] {
		s.Printf("%s %d ", property.Property(p), n)
	}
}

// happen is one random event of client c.
func (h *happenings) happen(c uint8) {
	l, busy := h.of[c-1], h.ops[c-1] != lock.NoOp
	switch k := h.IntN(40); {
	case k < 8 && !busy:
		h.begin(c, l)
	case k < 8:
		h.end(c)
	case k < 24:
		h.changeTruth(c, l)
		h.m.SetTruth(l, c*uint8(min(1, h.IntN(6))), &h.locks[l])
	case k < 34:
		x := h.exchange(l)
		for range h.often() {
			h.m.Exchange(c, &x)
			h.m.Touch(c, &x)
		}
	case k == 34:
		h.m.Crash(c)
		h.ops[c-1], h.held[c-1] = lock.NoOp, 0
		h.m.Freed(c)
	case k == 35:
		h.m.Gone(c, h.flip(), h.flip())
		h.m.Freed(c)
	case k == 36:
		if h.flip() {
			h.changeTruth(c, l)
		} else {
			h.locks[l].Taken, h.locks[l].Owner, h.locks[l].Admin = 0, [monitor.Slots + 1]uint8{}, 0
		}
		h.m.Restarted(l, &h.locks[l])
	default:
		h.trifle(c)
	}
}

// slot is a random slot: usually one of the first n slots, sometimes one of the last n.
func (h *happenings) slot(n int) uint8 {
	if h.IntN(6) == 0 {
		return uint8(monitor.Slots - h.IntN(n))
	}
	return uint8(1 + h.IntN(n))
}

// often is the number of repetitions of an event: usually 1, sometimes up to 15, rarely 260.
func (h *happenings) often() int {
	switch n := h.IntN(200); {
	case n == 0:
		return 260
	case n < 16:
		return n
	}
	return 1
}

func (h *happenings) flip() bool { return h.IntN(2) == 0 }

// lease is one random event of client c that only locks with traits have.
func (h *happenings) lease(c, l uint8) {
	switch h.IntN(11) {
	case 0:
		h.m.Acknowledged(c)
	case 1:
		h.m.Clock(c, int64(h.IntN(5)-2))
	case 2:
		h.m.Hinders(c)
	case 3:
		h.m.Answered(c)
	case 4:
		h.m.ChannelGone(c, h.flip())
	default:
		h.grant(c, l)
		h.m.SetTruth(l, c*uint8(min(1, h.IntN(6))), &h.locks[l])
	}
}

// grant changes a client's lease at random, or ends leases whose time is over.
func (h *happenings) grant(c, l uint8) {
	t := &h.locks[l]
	s := h.slot(3)
	if held := h.held[c-1]; held > 0 && h.flip() {
		s = held
	}
	switch k := h.IntN(12); {
	case k < 6:
		t.Taken, t.Owner[s], t.Priority[s] = t.Taken|1<<s, c, uint8(h.IntN(3))
		t.Until[s], t.Token[s] = int32(h.now)+int32(h.IntN(12)), t.Token[s]+uint32(h.IntN(3))
	case k < 8:
		t.Lapse(h.now)
	case k == 8:
		t.Vacate(s)
	case k == 9:
		t.Limit, t.Barrier = uint8(h.IntN(3)), uint8(h.IntN(3))
	case k == 10:
		t.Pending ^= 1 << s
	case t.Until[s] > 0:
		t.Until[s] += int32(h.IntN(7) - 2)
	}
}

// trifle is one random event of client c that hardly changes the monitor's state.
func (h *happenings) trifle(c uint8) {
	switch h.IntN(8) {
	case 0:
		h.m.Lost(c)
	case 1:
		h.m.Named(c, h.flip())
	case 2:
		h.m.Crashless(c, h.flip(), "it fell")
	case 3:
		h.m.Unfinished(c, "")
	case 4:
		h.m.Leftover("a queue")
	case 5:
		for range h.often() {
			h.m.Hinders(c)
		}
	case 6:
		h.m.Renewed(c)
	case 7:
		h.m.Learned(c, uint8(h.IntN(2))*h.held[c-1])
	}
}

func (h *happenings) begin(c, l uint8) {
	op := lock.Acquire + lock.Op(h.IntN(int(lock.Wait-lock.Acquire)+1))
	if h.flip() {
		op = lock.Acquire
		if h.held[c-1] > 0 {
			op = lock.Verify + lock.Op(h.IntN(2))
		}
	}
	if h.traits.Has(lock.Leases) && h.held[c-1] > 0 && h.IntN(3) == 0 {
		op = lock.Refresh
	}
	h.ops[c-1] = op
	h.m.Begin(c, l, op, uint8(h.IntN(3)), h.IntN(4) > 0)
	if op == lock.Release {
		h.held[c-1] = 0
	}
}

func (h *happenings) end(c uint8) {
	r := lock.Result{Outcome: lock.Outcome(1 + h.IntN(3)), Slots: uint8(h.IntN(4)), Slot: uint8(h.IntN(4))}
	if r.Outcome != lock.Done {
		r.Reason = lock.Reason(h.IntN(int(lock.Crashed) + 1))
	}
	switch h.ops[c-1] {
	case lock.Acquire, lock.Verify:
		r.Held = (r.Outcome == lock.Done || h.IntN(16) == 0) && h.IntN(4) > 0
		if held := h.held[c-1]; h.ops[c-1] == lock.Verify && h.IntN(4) > 0 {
			r.Slot = held
		}
		if r.Held {
			r.Slot = max(1, r.Slot)
			h.held[c-1] = r.Slot
		} else if h.flip() {
			h.held[c-1] = 0
		}
		if !r.Held && r.Outcome == lock.Done {
			r.Reason = lock.Removed
		}
	}
	if h.ops[c-1] == lock.Refresh && h.traits != 0 {
		r.Held = r.Outcome == lock.Done && h.IntN(4) > 0
	}
	h.ops[c-1] = lock.NoOp
	h.m.End(c, r, h.held[c-1], h.IntN(4) > 0)
}

// changeTruth changes the broker's state of lock l at random, often as a command of client c might.
func (h *happenings) changeTruth(c, l uint8) {
	t := &h.locks[l]
	s := h.slot(4)
	if held := h.held[c-1]; held > 0 && h.flip() {
		s = held
	}
	bit := uint16(1) << s
	switch k := h.IntN(12); {
	case k < 5 && t.Taken&bit == 0:
		t.Taken, t.Owner[s] = t.Taken|bit, c
	case k < 7:
		t.Taken, t.Owner[s] = t.Taken&^bit, 0
	case k == 7:
		t.Taken, t.Owner[s] = t.Taken|bit, uint8(h.IntN(h.n+1))
	case k == 8 && t.Owner[s] != 0:
		t.Owner[s] ^= monitor.HalfOpen
	case k == 9:
		t.Exists ^= bit
	case k == 10 && h.flip():
		t.Exists |= 2 << t.Count()
	case k == 10:
		t.Exists &^= 1 << t.Count() &^ 1
	case k == 11:
		t.Admin = []uint8{0, c, uint8(1 + h.IntN(h.n)), c | monitor.HalfOpen}[h.IntN(4)]
	}
}

func (h *happenings) exchange(l uint8) backend.Exchange {
	return backend.Exchange{
		Access: backend.Access(h.IntN(int(backend.Mode) + 1)), Result: backend.Result(h.IntN(int(backend.Lost)+1) * h.IntN(2)),
		Role: backend.Role(h.IntN(4)), Lock: l, Slot: h.slot(4), Known: true,
		RoundTrip: h.flip(), Waits: h.flip(), Aborted: h.IntN(4) == 0, Minimal: h.IntN(20) > 0,
	}
}

// tell writes the results of the monitor's methods after an event.
func (h *happenings) tell(s *pinned.Seen) {
	m := &h.m
	s.Printf("%d %d %v %v %d %d|", m.Found, m.Exercised, m.Witnessed, m.WitnessedStrong, m.Overlap, m.Overlaps)
	m.Found, m.Exercised = 0, 0
	if h.IntN(3) == 0 { // so that later events can drop the linearization again
		m.Witnessed, m.WitnessedStrong = true, true
	}
	c := uint8(1 + h.IntN(h.n))
	cost, lost, broken := m.Spent(c)
	s.Printf("%d commands, %d trips, %d replies, %d lost, broken %v|", cost.Commands, cost.Trips, cost.Replies, lost, broken)
	client, visible, l := m.Client(c), m.Visible(c), h.of[c-1]
	s.Printf("%s of lock %d, believes %d, %v %v|", client.Op, client.Lock, client.Believes, client.Alive, client.Connected)
	s.Printf("%b of %b, %v %v %v %v|", visible.Taken[l], visible.Exists[l], visible.Administered[l], visible.Administering, m.Left(c), m.Holds(c))
	truth := m.Truth(l)
	s.Printf("%d %d %d|", truth.Lowest(), truth.Nearest(), truth.Free())
	s.Add("bytes kept", len(h.code(m)))
	if h.IntN(4) > 0 {
		return
	}
	keep := property.Set(h.Uint32()) & (property.Applicable(lock.Semaphore) | property.ForTraits(h.traits))
	if h.flip() {
		keep &= property.Set(h.Uint32())
	}
	views := codec.Write(nil)
	for i := range h.n {
		m.CodeView(&views, uint8(i+1), keep)
	}
	s.Add("bytes of views", len(views.Bytes()))
	s.Printf("%v|", monitor.Memoryless(keep))
	copied := *m
	copied.Forget(keep, property.FailedAcquire(h.IntN(2)))
	kept := h.code(&copied)
	s.Add("bytes kept for some properties", len(kept))
	h.resume(kept, &copied)
	if h.IntN(8) == 0 { // continue with the decoded monitor
		h.m = copied
	}
}

// code encodes the monitor as a search does.
func (h *happenings) code(m *monitor.Monitor) []byte {
	c := codec.Write(nil)
	m.CodeShared(&c, len(h.locks))
	for i := range h.n {
		m.CodeClient(&c, uint8(i+1))
	}
	m.CodeDead(&c, uint8(1+h.IntN(h.n)))
	return c.Bytes()
}

// resume decodes an encoded monitor into m. Encoding it again must give the same bytes.
func (h *happenings) resume(kept []byte, m *monitor.Monitor) {
	read := codec.Read(kept)
	m.CodeShared(&read, len(h.locks))
	for i := range h.n {
		m.CodeClient(&read, uint8(i+1))
	}
	dead := len(read.Bytes()) // size of the code of one dead client
	m.Resume(h.locks)
	again := h.code(m)
	if same := len(kept) - dead; !bytes.HasPrefix(again, kept[:same]) {
		h.t.Errorf("%x is read, and %x is kept of it", kept, again)
	}
}

// TestPinnedCosts compares sums of random costs with a file.
func TestPinnedCosts(t *testing.T) {
	f := pinned.New(t)
	f.Block("costs", 200, func(i int, s *pinned.Seen) {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		var sums [2]monitor.Costs
		for range r.IntN(60) {
			res := lock.Result{
				Outcome: lock.Outcome(1 + r.IntN(3)), Held: r.IntN(2) == 0, Slot: uint8(1 + r.IntN(2)), Reason: lock.Reason(r.IntN(int(lock.Crashed) + 1)),
			}
			var cost [monitor.Measures]int
			for k := range cost {
				cost[k] = r.IntN(9)
			}
			sums[r.IntN(2)].Add(lock.Acquire+lock.Op(r.IntN(int(lock.Refresh-lock.Acquire)+1)), res, r.IntN(2), cost)
		}
		sums[0].Merge(&sums[1])
		tell := s.Printf
		if i < 4 {
			tell = s.Rowf
		}
		for class, tally := range sums[0] {
			if class := monitor.CostClass(class); tally.Count > 0 {
				tell("%d, %s, %s, %s: %d, sum %d, from %d to %d", i, class, class.Of(lock.Mutex), class.Of(lock.PersistentMutex), tally.Count, tally.Sum, tally.Min, tally.Max)
			}
		}
		number := monitor.PermitNumber(uint16(r.Uint32()), uint16(r.Uint32()), r.IntN(12))
		tell("%d, permit %d, budget %d", i, number, monitor.AcquireBudget(lock.Result{Held: i%2 == 0, Slot: uint8(i % 5)}, i%7))
	})
	f.Compare("testdata/costs.txt")
}
