package sim

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Space describes the set of scenarios from which a random one is drawn.
type Space struct {
	Target *lock.Target
	// Fixed has the options that are not drawn, each as a name and a value.
	Fixed [][2]string
	// Strategies are the scheduling strategies to draw from. If it is empty, three in four scenarios use Random, the
	// others PCT.
	Strategies []scenario.Strategy
	// Depth is the depth parameter of the strategy PCT: the number of priority changes plus one. 0 means a random depth
	// from 2 to 5.
	Depth int
	// Shape fixes parts of the workload and of the faults. The caller must have checked it with [Shape.Check].
	Shape Shape
}

// Coin is the source of random bits for drawing scenarios. In tests the library rapid supplies the bits, and then
// shrinks the drawn scenario.
type Coin interface{ Flip() bool }

// Draw draws a whole scenario before it runs: workload, options, faults and schedule. A scenario that takes fewer draws
// is smaller, which helps rapid to shrink it.
func Draw(space *Space, coin Coin) scenario.Scenario {
	d := draw{Draws{coin}, &space.Shape, space.Target}
	s := scenario.Scenario{Target: space.Target.Name, Server: space.Target.Backend}
	if draw := BackendOf(space.Target).Options; draw != nil {
		s.Options = draw(Draws{coin}, space.settle)
	} else {
		s.Options = space.settle(BackendOf(space.Target).Defaults)
	}
	d.locks(&s, space.Target.Kind)
	d.clients(&s, space.Target.Kind)
	d.faults(&s)
	d.shapedFaults(&s, space.Target.Kind)
	d.schedule(&s, space)
	s.Steps = d.shape.steps(&s)
	return s
}

// Source draws the scenarios of one seed. The i-th scenario is the same on every machine.
type Source struct {
	space Space
	seed  uint64
}

// NewSource returns the source of the scenarios of a space for a seed.
func NewSource(space Space, seed uint64) *Source {
	return &Source{space, seed}
}

// Scenario returns the i-th scenario.
func (s *Source) Scenario(i int) scenario.Scenario {
	const golden = 0x9E3779B97F4A7C15 // spreads neighbouring seeds far apart (2^64 divided by the golden ratio)
	coin := newCoin(s.seed*golden + uint64(i))
	return Draw(&s.space, &coin)
}

// draw has what every function that draws a part of a scenario needs. It composes numbers from single bits, so that all
// numbers are equally likely with any coin. If small numbers were more likely, schedules would be unfair.
type draw struct {
	Draws
	shape  *Shape
	target *lock.Target
}

// Draws composes random numbers from the bits of a coin.
type Draws struct{ coin Coin }

// Bits returns a uniformly drawn number of n bits.
func (d Draws) Bits(n int) (v int) {
	if c, ok := d.coin.(*coin); ok {
		return c.bits(n)
	}
	for range n {
		v <<= 1
		if d.coin.Flip() {
			v |= 1
		}
	}
	return v
}

// below returns an almost uniformly drawn number from 0 to n-1.
func (d draw) below(n int) int {
	if n&(n-1) == 0 {
		return d.Bits(bits.Len(uint(n)) - 1)
	}
	return d.Bits(bits.Len(uint(n))+4) % n
}

// settle returns the options o with the fixed options set.
func (space *Space) settle(o lock.Options) lock.Options {
	o, err := lock.SetOptions(o, space.Fixed)
	if err != nil {
		panic("sim: fixed option: " + err.Error()) // the caller has checked the options
	}
	return space.Target.Settled(o)
}

// lookalikes are pairs of lock names for which a careless naming scheme gives queues of both locks the same name.
var lookalikes = [][2]string{
	{"jobs", "jobs-1"}, {"jobs", "jobs-1-A"}, {"jobs", "jobs-admin"}, {"jobs", "jobs1"},
}

// resembling are pairs of lock names that a careless library confuses. Such a library ignores case, punctuation,
// accents or Unicode normal forms, cuts off long names, sorts numbers as text, or treats a name as a pattern, a path or
// a prefix.
var resembling = [...][2]string{
	{"jobs-1", "jobs.1"}, {"jobs_1", "jobs-1"}, {"Jobs", "jobs"}, {"jobs", "jobs.1"},
	{"jobs-1", "jobs-11"}, {"jobs-10", "jobs-1"}, {"jobs-*", "jobs-1"}, {"jobs.#", "jobs.1"},
	{"jobs/1", "jobs-1"}, {"jobs/1", "jobs//1"},
	{"caf\u00e9", "cafe"}, {"caf\u00e9", "cafe\u0301"},
	{"nightly-import-of-all-branch-offices-north", "nightly-import-of-all-branch-offices-south"},
	{longBeginning + "north", longBeginning + "south"}, {longestBeginning + "north", longestBeginning + "south"},
}

// These are beginnings of long lock names. PostgreSQL cuts off names after 63 bytes, MariaDB after 64. A queue's name
// has at most 255 bytes, some of which the run's prefix and the library's additions need.
const (
	longBeginning    = "nightly-import-of-all-branch-offices-and-of-their-warehouses-" // 61 bytes
	longestBeginning = longBeginning + longBeginning + "and-again-"
)

// plainNames are the ordinary lock names, which do not resemble each other.
var plainNames = []string{"jobs", "other"}

// LockNames returns all names that locks may get, the ordinary ones first.
func LockNames() []string {
	names := slices.Clone(plainNames)
	for _, pair := range slices.Concat(lookalikes, resembling[:]) {
		for _, name := range pair {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (d draw) locks(s *scenario.Scenario, kind lock.Kind) {
	s.Locks = append(s.Locks, d.lock(plainNames[0], kind))
	if d.Bits(3) == 7 {
		pair := lookalikes[d.Bits(2)]
		s.Locks = append(s.Locks, d.lock(pair[1], kind))
	}
}

func (d draw) lock(name string, kind lock.Kind) scenario.Lock {
	if d.shape.Start != 0 {
		return scenario.Begin(name, d.shape.Start)
	}
	return scenario.Lock{Name: name, Slots: d.slots(kind)}
}

// slots draws the number of slots that a lock has at the beginning.
func (d draw) slots(kind lock.Kind) uint8 {
	if d.shape.Slots != nil {
		return uint8(*d.shape.Slots)
	}
	switch kind {
	case lock.Mutex:
		return 0
	case lock.PersistentMutex:
		return uint8(min(1, d.Bits(2)))
	}
	if !d.administers() {
		return uint8(1 + d.below(3))
	}
	return []uint8{1, 1, 2, 2, 2, 3, 3, 0}[d.Bits(3)]
}

// usualClients is the largest number of clients if the shape does not fix it.
const usualClients = 6

// clients draws the workload: two to four clients that use the locks, and up to two administrators. The shape may fix
// either number.
func (d draw) clients(s *scenario.Scenario, kind lock.Kind) {
	s.Clients = make([]scenario.Client, 0, usualClients)
	for range d.shape.clients(func() int { return 2 + d.below(3) }) {
		l := d.below(len(s.Locks))
		s.Clients = append(s.Clients, scenario.Client{Lock: l, Ops: d.stating(d.using(kind), s.Locks[l].Slots)})
	}
	if kind == lock.Mutex || !d.administers() {
		return
	}
	for range d.shape.admins(len(s.Clients), func() int { return []int{0, 1, 2, 2}[d.Bits(2)] }) {
		l := d.below(len(s.Locks))
		s.Clients = append(s.Clients, scenario.Client{Lock: l, Ops: d.administering(kind, s.Locks[l].Slots)})
	}
}

func (d draw) using(kind lock.Kind) []scenario.Operation {
	const a, r = lock.Acquire, lock.Release
	if d.shape.Rounds != nil {
		return d.rounds(*d.shape.Rounds)
	}
	n := 3 + d.Bits(2)
	if kind == lock.Mutex {
		n += 4 // more rounds, since operations on a mutex are short
	}
	ops := make([]scenario.Operation, n)
	asks := d.asks()
	for i := range ops {
		ops[i].Op = []lock.Op{a, a, a, asks[0], asks[1], asks[2], r, r}[d.Bits(3)]
	}
	return ops
}

// asks returns the operations that a holder draws from. An operation that occurs twice is twice as likely.
func (d draw) asks() [3]lock.Op {
	has := func(op lock.Op) bool { return slices.Contains(d.target.Operations(), op) }
	switch verify, refresh := has(lock.Verify), has(lock.Refresh); {
	case verify && refresh:
		return [3]lock.Op{lock.Verify, lock.Refresh, lock.Refresh}
	case refresh:
		return [3]lock.Op{lock.Refresh, lock.Refresh, lock.Refresh}
	case verify:
		return [3]lock.Op{lock.Verify, lock.Verify, lock.Verify}
	}
	return [3]lock.Op{lock.Acquire, lock.Release, lock.Release}
}

// administers reports whether the target has operations for administrators.
func (d draw) administers() bool {
	return slices.ContainsFunc(d.target.Operations(), lock.Op.Administrative)
}

// levelBits is the number of bits of a priority, so that there are four.
const levelBits = 2

// stating adds to a client's acquires what they state to the server: a limit, on which most clients agree, or a
// priority for each.
func (d draw) stating(ops []scenario.Operation, slots uint8) []scenario.Operation {
	traits := d.target.Traits
	if !traits.Has(lock.Limits) && !traits.Has(lock.Priorities) {
		return ops
	}
	limit := max(1, slots)
	if traits.Has(lock.Limits) && d.Bits(3) == 7 {
		limit = uint8(1 + d.below(3))
	}
	for i := range ops {
		switch {
		case ops[i].Op != lock.Acquire:
		case traits.Has(lock.Priorities):
			ops[i].Arg = uint8(1 + d.Bits(levelBits))
		default:
			ops[i].Arg = limit
		}
	}
	return ops
}

// rounds draws n rounds of an acquire, up to two verifies, and a release.
func (d draw) rounds(n int) (ops []scenario.Operation) {
	for range n {
		ops = append(ops, scenario.Operation{Op: lock.Acquire})
		for range d.below(3) {
			ops = append(ops, scenario.Operation{Op: d.asks()[2]})
		}
		ops = append(ops, scenario.Operation{Op: lock.Release})
	}
	return ops
}

// administering draws one of the sequences of administrative operations, with arguments.
func (d draw) administering(kind lock.Kind, slots uint8) (ops []scenario.Operation) {
	session := sessions[d.Bits(4)]
	if kind == lock.PersistentMutex {
		session = sessionsOfOne[d.Bits(3)]
	}
	n := 1 + d.Bits(1)
	for _, op := range session {
		o := scenario.Operation{Op: op}
		switch op {
		case lock.Add, lock.Remove:
			o.Arg = uint8(n)
		case lock.Create:
			o.Arg = uint8(1 + d.below(3))
		case lock.Wait: // wait for one of the slots that a removal removes first
			o.Arg = uint8(max(1, int(slots)-d.Bits(1)))
		}
		if kind == lock.PersistentMutex {
			o.Arg = 1
		}
		ops = append(ops, o)
	}
	return ops
}

// These are sequences of an administrator's operations. Some wait for the removed slot after a removal, or add it
// again.
var (
	sessions = [16][]lock.Op{
		{lock.Remove}, {lock.Add}, {lock.Count}, {lock.Wait}, {lock.Destroy}, {lock.Create},
		{lock.Remove, lock.Add}, {lock.Remove, lock.Add}, {lock.Remove, lock.Add}, {lock.Remove, lock.Wait, lock.Add},
		{lock.Remove, lock.Wait}, {lock.Destroy, lock.Create}, {lock.Destroy, lock.Create}, {lock.Destroy, lock.Wait},
		{lock.Add, lock.Remove}, {lock.Add, lock.Count},
	}
	sessionsOfOne = [8][]lock.Op{
		{lock.Destroy}, {lock.Create}, {lock.Count}, {lock.Wait}, {lock.Destroy, lock.Wait},
		{lock.Destroy, lock.Create}, {lock.Destroy, lock.Create}, {lock.Create, lock.Destroy},
	}
)

// faults draws up to three faults, and none in a quarter of the scenarios. It leaves out kinds of faults whose number
// the shape fixes.
func (d draw) faults(s *scenario.Scenario) {
	b := BackendOf(d.target)
	kinds := b.faultKinds()
	for range d.Bits(2) {
		f := scenario.Fault{Do: kinds[d.below(len(kinds))], At: uint16(1 + d.Bits(3))}
		if d.Bits(1) == 1 {
			f.At += uint16(d.Bits(3))
		}
		switch f.Do {
		case scenario.Restart:
			f.At += uint16(d.Bits(4))
		case scenario.Advance:
			f.At, f.Arg = f.At+uint16(d.Bits(4)), uint32(1+d.Bits(d.span(b)))
		default:
			f.Client = uint8(min(len(s.Clients), 1+d.below(len(s.Clients)+2)))
			f.Delay = d.delay()
		}
		if f.Do == scenario.Pause {
			f.Arg = uint32(1 + d.Bits(5))
		}
		if f.Do.Clock() {
			f.Arg, f.Delay = uint32(1+d.below(int(b.Clocks.most(f.Do)))), 0
		}
		if f.Do.Crash() && d.shape.CrashShare != nil || f.Do == scenario.Restart && d.shape.Restarts != nil {
			continue
		}
		f.At += d.later(s)
		s.Faults = append(s.Faults, f)
	}
}

// span draws the number of bits of a duration in milliseconds. If leases end by time, it is 3, 5, 7 or 9, each equally
// likely, so that there are many short durations. Otherwise it is always 9.
func (d draw) span(b *Backend) int {
	if b.Leases {
		return 3 + 2*d.Bits(2)
	}
	return 9
}

// faultKinds returns the kinds of faults that are drawn for a backend's locks, repeated by weight.
func (b *Backend) faultKinds() []scenario.ActionKind {
	kinds := faultKinds
	if b.Leases {
		kinds = append(slices.Clip(kinds), scenario.Advance, scenario.Advance, scenario.Pause)
	}
	for k := scenario.ClockAhead; k <= scenario.ClockSlow; k++ {
		if b.Clocks.most(k) > 0 {
			kinds = append(slices.Clip(kinds), k)
		}
	}
	return kinds
}

// delay draws the delay, in steps, after which the broker detects a dead connection. Half of the time it is 0.
func (d draw) delay() uint16 {
	if d.Bits(1) == 1 {
		return uint16(1 + d.Bits(4))
	}
	return 0
}

// faultKinds are the kinds of faults to draw from. A kind that occurs more often is more likely. Crashes come first.
var faultKinds = []scenario.ActionKind{
	scenario.CrashBefore, scenario.CrashEffect, scenario.CrashEffect, scenario.CrashReply, scenario.CrashReply,
	scenario.Drop, scenario.Drop, scenario.Drop, scenario.Drop, scenario.ChannelError, scenario.ChannelError,
	scenario.Lose, scenario.Lose, scenario.Pause, scenario.Restart, scenario.Advance,
}

const crashKinds = 5 // number of crashes at the beginning of faultKinds

// stepsSpread is the number of random choices in an ordinary schedule, after which they repeat. It is also the number
// of steps over which PCT spreads its priority changes.
const stepsSpread = 48

func (d draw) schedule(s *scenario.Scenario, space *Space) {
	strategies := space.Strategies
	if len(strategies) == 0 {
		strategies = []scenario.Strategy{scenario.Random, scenario.Random, scenario.Random, scenario.PCT}
	}
	sched := &s.Schedule
	sched.Strategy = strategies[d.below(len(strategies))]
	if sched.Strategy == scenario.Random {
		sched.Choices = d.choices(d.spread(s))
		return
	}
	sched.Choices = d.choices(4) // choices for random options, not for the schedule
	for c := range s.Clients {
		sched.Priorities = slices.Insert(sched.Priorities, d.below(c+1), uint8(c+1))
	}
	depth := space.Depth
	if depth == 0 {
		depth = 2 + d.Bits(2)
	}
	for range depth - 1 {
		sched.Changes = append(sched.Changes, uint16(1+d.below(d.spread(s))))
	}
	slices.Sort(sched.Changes)
}

func (d draw) choices(n int) []uint8 {
	c := make([]uint8, n)
	for i := range c {
		c[i] = uint8(d.Bits(5))
	}
	return c
}
