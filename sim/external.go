package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// External returns the i-th scenario for external clients, whose lock has the given traits. It adds situations to a
// drawn scenario. Half of the scenarios ask for things that the reference locks do not offer, see [draw.beyond]. A
// quarter are cut off early, so that the audit meets a client that holds the lock or is acquiring it. If callers state
// limits, all state the same limit in half of the scenarios. Scenarios alternate between strategies, unless the space
// fixes them. The runner leaves out what the lock cannot do.
func (s *Source) External(i int, traits lock.Traits) scenario.Scenario {
	const golden, other, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7, 0xABC98388FB8FAC03, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3, 0x1D8E4E27C47D124F, 0xEB44ACCAB455D165, 0xC6BC279692B5C323
	space := s.space
	if len(space.Strategies) == 0 {
		space.Strategies = []scenario.Strategy{[]scenario.Strategy{scenario.Random, scenario.PCT}[i%2]}
	}
	coin := newCoin(s.seed*golden + uint64(i))
	sc := Draw(&space, &coin)
	coin = newCoin(s.seed*golden + uint64(i) ^ other)
	d := draw{Draws{&coin}, &space.Shape, space.Target}
	if d.Bits(1) == 1 {
		d.beyond(&sc)
	}
	coin = newCoin(s.seed*golden + uint64(i) ^ fourth)
	d.alike(&sc)
	if d.Bits(1) == 1 {
		sc.Deeper = uint8(d.Bits(4))
	}
	if d.Bits(4) == 0 && d.shape.Rounds == nil {
		d.often(&sc)
	}
	coin = newCoin(s.seed*golden + uint64(i) ^ fifth)
	d.narrow(&sc, s.turns(i))
	if traits.Has(lock.Limits) {
		coin = newCoin(s.seed*golden + uint64(i) ^ third)
		d.limits(&sc)
	}
	coin = newCoin(s.seed*golden + uint64(i) ^ sixth)
	if d.Bits(2) == 0 {
		sc.Steps = 3 + d.below(mostCutOff)
	}
	if i >= fewScenarios && d.Bits(4) == 0 {
		d.many(&sc)
	}
	if traits.Has(lock.Leases) {
		coin = newCoin(s.seed*golden + uint64(i) ^ seventh)
		d.lapses(&sc)
	}
	if traits.Has(lock.Leases) || traits.Has(lock.Sessions) {
		coin = newCoin(s.seed*golden + uint64(i) ^ tenth)
		d.asleep(&sc, traits)
	}
	if traits.Has(lock.Extends) {
		coin = newCoin(s.seed*golden + uint64(i) ^ eighth)
		d.extended(&sc)
	}
	if traits.Has(lock.Modes) || traits.Has(lock.Sums) {
		coin = newCoin(s.seed*golden + uint64(i) ^ ninth)
		d.shared(&sc, traits.Has(lock.Sums))
	}
	return sc
}

// PastLease is an idle time in seconds that is longer than the lease time given to clients.
const PastLease = 40

// nearLease is an idle time in seconds that is a little shorter than a lease, so that a renewal is due within it.
const nearLease = 25

// lapse draws an idle time past the end of a lease, or close to it.
func (d draw) lapse() uint32 {
	return []uint32{PastLease, nearLease}[d.Bits(1)]
}

// lapses adds idle times, so that in most executions leases end or nearly end. An idle time can fall between any two
// commands, even of one operation.
func (d draw) lapses(s *scenario.Scenario) {
	if d.target.Kind == lock.Mutex && d.shape.Clients == nil && d.shape.Rounds == nil && s.Schedule.Strategy == scenario.Random && d.Bits(1) == 0 {
		d.overtaken(s)
		return
	}
	for range d.below(3) {
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Idle, At: uint16(1 + d.below(mostBeforeLapse)), Arg: d.lapse()})
	}
}

// overtaken replaces the workload, and lets a lease end, or nearly end, once and early. The clients mostly acquire and
// release; half of the time they verify, too. A lease may thus end when its holder is about to release or verify, and
// another client may acquire the lock first.
func (d draw) overtaken(s *scenario.Scenario) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	s.Clients = []scenario.Client{{Ops: calls(a, r, a, r)}, {Ops: calls(a, a, r, a)}, {Ops: calls(a, a, a)}}
	s.Steps = 0
	s.Faults = []scenario.Fault{{Do: scenario.Idle, At: uint16(3 + d.below(mostBeforeLapse/2)), Arg: d.lapse()}}
	if d.Bits(1) == 1 {
		s.Clients[0].Ops, s.Clients[1].Ops = calls(a, v, r, a, r), calls(a, a, v, r, a)
	}
}

// mostBeforeLapse is the largest number of steps before an idle time that lets a lease end. An operation takes a few
// steps.
const mostBeforeLapse = 16

// fewScenarios is the number of scenarios, at the beginning of a seed, that never have many slots. The audit needs one
// more client for each slot, and starting a client's process is slow.
const fewScenarios = 100

// many gives a semaphore so many slots that some slot numbers have two digits. Half of the time it adds a second
// semaphore whose name ends in a digit. A careless library then confuses slot 11 of jobs with slot 1 of jobs1.
func (d draw) many(s *scenario.Scenario) {
	if d.target.Kind != lock.Semaphore || d.shape.Slots != nil || d.shape.Start != 0 {
		return
	}
	s.Locks[0].Slots = uint8(9 + min(2, d.Bits(2))) // 9 to 11, which is [monitor.Slots]
	if d.Bits(1) == 1 && d.shape.Clients == nil {
		pair := lookalikes[len(lookalikes)-1]
		s.Locks = append(s.Locks[:1], scenario.Lock{Name: pair[1], Slots: 1})
		s.Locks[0].Name = pair[0]
	}
}

// mostCutOff is the number of possible lengths of a scenario that is cut off: 3 to 63 steps.
const mostCutOff = 61

// alike renames the two locks to names that careless libraries confuse. If there is only one lock, it may add the
// second, and let some clients use that one.
func (d draw) alike(s *scenario.Scenario) {
	if d.shape.Clients != nil || d.shape.Start != 0 {
		return
	}
	switch {
	case len(s.Locks) > 1:
		if d.Bits(1) == 1 {
			return
		}
	case d.Bits(3) != 0:
		return
	default:
		s.Locks = append(s.Locks, s.Locks[0])
		for i := range s.Clients {
			s.Clients[i].Lock = d.Bits(1)
		}
	}
	for i, name := range resembling[d.below(len(resembling))] {
		s.Locks[i].Name = name
	}
}

// often makes one client acquire and release many times without faults, so that anything that each round leaves behind
// accumulates.
func (d draw) often(s *scenario.Scenario) {
	c := &s.Clients[d.below(min(2, len(s.Clients)))]
	c.Ops, s.Faults = nil, nil
	for range oftenRounds {
		c.Ops = append(c.Ops, calls(lock.Acquire, lock.Release)...)
	}
}

// turns makes choices in rotation instead of at random, so that a few scenarios cover all combinations.
type turns struct{ left uint64 }

// turns returns the choices for the i-th scenario. Each seed begins at another place in the rotation.
func (s *Source) turns(i int) *turns {
	coin := newCoin(s.seed)
	return &turns{coin.next()>>32 + uint64(i)}
}

// take returns the next choice, from 0 to n-1. The first choice changes with every scenario. Each further choice
// changes once the choices before it have gone through all their values, like the digits of a counter.
func (t *turns) take(n uint64) int {
	choice := t.left % n
	t.left /= n
	return int(choice)
}

// narrow adds a situation that rarely occurs at random: a late reply, a semaphore with one slot for which all clients
// wait, or a fault in the middle of an operation.
func (d draw) narrow(s *scenario.Scenario, t *turns) {
	kind := d.target.Kind
	t.left += t.left / narrows // shifts the rotation, so that each situation meets each strategy, which also alternate
	switch how := t.take(narrows); {
	case how == 0:
		d.late(s, t)
	case !d.shape.free() || len(s.Locks) > 1: // two locks already produce rare situations
	case how == 1:
		d.interrupted(s, t)
	case how == 5 && d.Bits(1) == 0:
		d.abandoned(s)
	case how == 5:
		if kind == lock.Semaphore {
			d.reshaped(s)
		}
	case kind == lock.PersistentMutex && how == 2:
		d.remade(s, t)
	case kind != lock.Semaphore:
	case how == 2:
		d.crowded(s)
	case how == 3:
		d.disturbed(s, d.disturbance(uint8(2+d.Bits(1)), t))
	case how == 7:
		f := scenario.Fault{Do: scenario.Drop, Client: uint8(2 + t.take(2)), At: uint16(2 + t.take(mostChanges)), Delay: 2}
		d.disturbed(s, f)
	case how == 4 || how == 6:
		t.left = 2*t.left + uint64(how/6)
		d.halfway(s, t)
	}
}

// stall returns a fault that delays a reply to a random client.
func (d draw) stall(s *scenario.Scenario) scenario.Fault {
	return scenario.Fault{Do: scenario.Stall, Client: uint8(1 + d.below(len(s.Clients))), At: uint16(1 + d.Bits(4)), Delay: uint16(1 + d.Bits(4))}
}

// late adds a late reply. Half of the time it delays the reply to one of a client's first commands that change
// something, and the client's operations end with its acquire. If such a client gives up, it must return what its late
// command acquires.
func (d draw) late(s *scenario.Scenario, t *turns) {
	const a, r = lock.Acquire, lock.Release
	f := d.stall(s)
	if c := &s.Clients[f.Client-1]; d.shape.free() && len(s.Locks) == 1 && !c.Administers() && d.Bits(1) == 1 {
		f.At, s.Deeper = uint16(1+t.take(mostChanges)), scenario.EveryChange
		c.Ops, s.Faults = [][]scenario.Operation{calls(a), calls(a, r, a)}[d.Bits(1)], nil
	}
	s.Faults = append(s.Faults, f)
}

// narrows is the number of situations among which narrow chooses. For a mutex, some of them change nothing.
const narrows = 8

// interrupted lets one of the first two clients crash or lose a connection, a channel or a reply, after a command that
// may change the broker's state. Some acquires may wait for the lock.
func (d draw) interrupted(s *scenario.Scenario, t *turns) {
	who := uint8(1 + d.below(min(2, len(s.Clients))))
	if d.Bits(1) == 1 {
		d.waiting(s)
	}
	s.Faults, s.Deeper = append(s.Faults[:0], d.disturbance(who, t)), scenario.EveryChange
}

// halfway lets an administrator crash or lose a connection, a channel or a reply in the middle of its operation. Or it
// restarts the broker during or soon after the operation. Other clients then acquire and count slots.
func (d draw) halfway(s *scenario.Scenario, t *turns) {
	const a, c = lock.Acquire, lock.Count
	if !d.offers(c) {
		return
	}
	op, slots := []lock.Op{lock.Add, lock.Remove, lock.Create}[t.take(3)], uint8(1+d.Bits(1))
	all := scenario.Operation{Op: op, Arg: slots}
	s.Locks[0].Slots = 1
	s.Clients = []scenario.Client{{Ops: []scenario.Operation{all}}, {Ops: calls(a, c)}, {Ops: calls(a, c)}}
	switch op {
	case lock.Remove:
		s.Locks[0].Slots += slots
	case lock.Create:
		s.Locks[0].Slots = 0
		s.Clients[1].Ops = append([]scenario.Operation{all}, s.Clients[1].Ops...)
	}
	f := d.disturbance(1, t)
	if d.Bits(2) == 0 { // tests whether the change survives a restart
		f = scenario.Fault{Do: scenario.Restart, At: uint16(2 + d.Bits(4))}
	}
	s.Faults, s.Deeper = []scenario.Fault{f}, scenario.EveryChange
	if s.Schedule.Strategy == scenario.PCT {
		s.Schedule.Priorities, s.Schedule.Changes = []uint8{1, 2, 3}, nil
	}
}

// abandoned lets a client die while it holds the lock, or shortly before or after. The other clients acquire the lock,
// too.
func (d draw) abandoned(s *scenario.Scenario) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	who := d.below(len(s.Clients))
	for i := range s.Clients {
		switch c := &s.Clients[i]; {
		case i == who:
			c.Ops = calls(a, v, v, v, r, a, v, r)
		case !c.Administers():
			c.Ops = calls(a, r, a, r)
		}
	}
	s.Faults = []scenario.Fault{{Do: scenario.CrashBefore, Client: uint8(1 + who), At: uint16(3 + d.Bits(3)), Delay: uint16(d.Bits(2))}}
}

// reshaped removes a slot just after a lower slot has become free, which may leave a hole among the slots. Or it lets
// two clients create the lock at once, one in the middle of the other's operation.
func (d draw) reshaped(s *scenario.Scenario) {
	const a, v, r, c = lock.Acquire, lock.Verify, lock.Release, lock.Count
	s.Faults = nil
	if s.Schedule.Strategy != scenario.PCT {
		s.Locks[0].Slots = uint8(2 + d.Bits(1))
		remove := scenario.Operation{Op: lock.Remove, Arg: 1}
		s.Clients = []scenario.Client{{Ops: calls(a, r)}, {Ops: calls(a, v)}, {Ops: append(calls(c, c), remove)}, {Ops: calls(a, v)}}
		return
	}
	s.Locks[0].Slots = 0
	create := scenario.Operation{Op: lock.Create, Arg: uint8(1 + d.Bits(1))}
	s.Clients = []scenario.Client{{Ops: []scenario.Operation{create}}, {Ops: append([]scenario.Operation{create}, calls(a, c)...)}, {Ops: calls(a, a)}}
	s.Schedule.Priorities, s.Schedule.Changes = []uint8{1, 2, 3}, []uint16{uint16(1 + d.Bits(3))}
}

// crowded lets all clients compete for the only slot of a semaphore. About half of the acquires wait.
func (d draw) crowded(s *scenario.Scenario) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	s.Locks[0].Slots, s.Faults = 1, nil
	s.Clients = []scenario.Client{{Ops: calls(a, v, r, a, r)}, {Ops: calls(a, r, a, v, r)}, {Ops: calls(a, r, a)}}
	d.waiting(s)
	if d.Bits(1) == 1 { // an acquire times out just when it is granted
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Advance, At: uint16(1 + d.Bits(4)), Late: true})
	}
	d.queue(s)
}

// disturbed has two administrators, and a client that uses the lock. One administrator suffers fault f: it crashes or
// loses a connection, a channel or a reply. This happens after any of its commands, or between two commands that each
// change a slot.
func (d draw) disturbed(s *scenario.Scenario, f scenario.Fault) {
	s.Locks[0].Slots = uint8(1 + d.Bits(1))
	s.Clients = []scenario.Client{{Ops: calls(lock.Acquire, lock.Verify, lock.Release)}}
	for range 2 {
		ops := d.administering(d.target.Kind, s.Locks[0].Slots)
		if d.Bits(1) == 1 {
			ops = d.resizing(uint8(1 + d.Bits(1)))
		}
		s.Clients = append(s.Clients, scenario.Client{Ops: ops})
	}
	if d.Bits(1) == 1 {
		s.Locks[0].Slots++
		s.Deeper, s.Clients[f.Client-1].Ops = scenario.EveryChange, d.resizing(s.Locks[0].Slots)
	} else {
		s.Deeper, f.At = scenario.EveryCommand, uint16(1+d.Bits(3))
		if d.Bits(2) == 0 {
			f.At += uint16(d.Bits(3))
		}
	}
	f.Yields = true // after the fault the other administrator acts first
	s.Faults = []scenario.Fault{f}
	if s.Schedule.Strategy == scenario.PCT {
		s.Schedule.Priorities, s.Schedule.Changes = []uint8{f.Client, 5 - f.Client, 1}, nil
	}
}

// resizing returns one operation that adds or removes n slots; which one is drawn.
func (d draw) resizing(n uint8) []scenario.Operation {
	return []scenario.Operation{{Op: []lock.Op{lock.Add, lock.Remove}[d.Bits(1)], Arg: n}}
}

// disturbance returns a fault of a client near one of its first commands that change something. A crash or a lost reply
// comes at that command; a lost connection or channel comes before the next such command. The combinations rotate.
func (d draw) disturbance(who uint8, t *turns) scenario.Fault {
	f := scenario.Fault{Do: disturbances[t.take(uint64(len(disturbances)))], Client: who, At: uint16(1 + t.take(mostChanges))}
	if f.Do == scenario.Drop { // of several connections, lose all, the last used one, or another one
		f.Delay = uint16(min(2, d.below(4)))
	}
	if f.Do == scenario.Drop || f.Do == scenario.ChannelError {
		f.At++
	}
	return f
}

var disturbances = [...]scenario.ActionKind{scenario.Drop, scenario.Lose, scenario.CrashEffect, scenario.ChannelError, scenario.Lose}

// mostChanges limits disturbance to faults near a client's first 6 commands that change something.
const mostChanges = 6

// remade lets a client destroy a persistent mutex and create it again, with a fault in between. Other clients use the
// mutex.
func (d draw) remade(s *scenario.Scenario, t *turns) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	s.Clients = []scenario.Client{{Ops: calls(a, v, r, a, v, r)}, {Ops: calls(a, v, r, a, v)}, {}}
	for _, op := range []lock.Op{lock.Destroy, lock.Create, lock.Create} {
		s.Clients[2].Ops = append(s.Clients[2].Ops, scenario.Operation{Op: op, Arg: 1})
	}
	s.Faults, s.Deeper = []scenario.Fault{d.disturbance(3, t)}, scenario.EveryChange
	d.queue(s)
}

// queue draws new priorities for the clients, if the schedule uses priorities (PCT).
func (d draw) queue(s *scenario.Scenario) {
	if s.Schedule.Strategy != scenario.PCT {
		return
	}
	s.Schedule.Priorities = nil
	for c := range s.Clients {
		s.Schedule.Priorities = slices.Insert(s.Schedule.Priorities, d.below(c+1), uint8(c+1))
	}
}

// oftenRounds is the number of rounds that often gives to its client.
const oftenRounds = 8

// limits makes each acquire state how many clients may hold the lock. Half of the time all acquires state the same
// number, at most the number of slots. Otherwise each client or each call states its own number, or one client states a
// smaller number than the others. Administrators state none.
func (d draw) limits(s *scenario.Scenario) {
	agreed := d.Bits(1) == 1
	differs, modest := false, false
	if !agreed {
		how := d.below(3)
		differs, modest = how == 1, how == 2
	}
	common := uint8(1 + d.below(3))
	for i := range s.Clients {
		c := &s.Clients[i]
		limit := uint8(1 + d.below(3))
		switch {
		case agreed:
			limit = min(common, max(1, s.Locks[c.Lock].Slots))
		case modest && i == 0:
			limit = 1
		case modest:
			limit = uint8(2 + d.Bits(1))
		}
		for j := range c.Ops {
			if c.Ops[j].Op != lock.Acquire {
				continue
			}
			if differs {
				limit = uint8(1 + d.below(3))
			}
			c.Ops[j].Arg = limit
		}
	}
}

// beyond adds situations that the reference locks do not offer: processes that use two locks, releases without a hold,
// long idle times, acquires that wait, faults during a hold, and counts long after the last change of the slots.
func (d draw) beyond(s *scenario.Scenario) {
	if d.Bits(1) == 1 && d.shape.Clients == nil && d.shape.Start == 0 {
		d.pairs(s)
	}
	if d.Bits(1) == 1 {
		for i := range s.Clients {
			s.Clients[i].Ops = d.needless(s.Clients[i].Ops)
		}
	}
	if d.Bits(4) == 0 {
		s.Faults = append(s.Faults, d.stall(s))
	}
	if d.Bits(2) == 0 {
		f := scenario.Fault{Do: scenario.Idle, At: uint16(1 + d.below(d.spread(s))), Arg: idleSeconds[d.below(len(idleSeconds))]}
		s.Faults = append(s.Faults, f)
	}
	if d.Bits(1) == 1 {
		d.waiting(s)
	}
	if d.Bits(2) == 0 && d.shape.Rounds == nil {
		d.lostHold(s)
	}
	d.recount(s)
	d.resized(s)
	d.critical(s)
}

// critical adds a fault at a critical moment. A waiting acquire may time out just when it is granted. Or a client loses
// its connection or channel just before its release or verify, after others have had the lock.
func (d draw) critical(s *scenario.Scenario) {
	waits := func(c scenario.Client) bool {
		return slices.Contains(c.Ops, scenario.Operation{Op: lock.Acquire, Arg: scenario.Waiting})
	}
	if slices.ContainsFunc(s.Clients, waits) && d.Bits(2) == 0 {
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Advance, At: uint16(1 + d.Bits(4)), Late: true})
	}
	if d.Bits(3) != 0 || d.shape.Rounds != nil {
		return
	}
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	who := d.below(len(s.Clients))
	for i := range s.Clients {
		switch c := &s.Clients[i]; {
		case i == who:
			c.Ops = calls(a, r, a, v, r)
		case !c.Administers():
			c.Ops = [][]scenario.Operation{calls(a), calls(a, r, a), calls(a, v, r), calls(a, r, a, v)}[d.Bits(2)]
		}
	}
	do := []scenario.ActionKind{scenario.ChannelError, scenario.Drop}[d.Bits(1)]
	if d.Bits(1) == 1 { // before a verify instead of before a release
		do = scenario.Arrive
	}
	s.Faults = append(s.Faults, scenario.Fault{Do: do, Client: uint8(1 + who), At: 1, Late: true})
}

// resized makes an administrator undo its own operation and then repeat it. A client that remembers what it has created
// may fail to check that it still exists.
func (d draw) resized(s *scenario.Scenario) {
	if d.Bits(2) != 0 || d.shape.Rounds != nil {
		return
	}
	undone := map[lock.Op]lock.Op{lock.Add: lock.Remove, lock.Create: lock.Destroy}
	for i := range s.Clients {
		for j, o := range s.Clients[i].Ops {
			if undo := undone[o.Op]; undo != lock.NoOp && d.offers(undo) {
				back := scenario.Operation{Op: undo}
				if undo == lock.Remove {
					back.Arg = o.Arg
				}
				s.Clients[i].Ops = slices.Insert(s.Clients[i].Ops, j+1, back, o)
				break
			}
		}
	}
}

// offers reports whether the target offers operation op.
func (d draw) offers(op lock.Op) bool { return slices.Contains(d.target.Operations(), op) }

// lostHold lets a client lose the connection or channel of its lock, or another one. The client verifies after the
// loss, while others use the lock.
func (d draw) lostHold(s *scenario.Scenario) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	who := d.below(len(s.Clients))
	for i := range s.Clients {
		switch c := &s.Clients[i]; {
		case i == who:
			c.Ops = calls(a, v, v, v, r, a, v, v, r)
		case !c.Administers():
			c.Ops = calls(a, r, a, r, a, r)
		}
	}
	f := scenario.Fault{Do: scenario.Drop, Client: uint8(1 + who), At: uint16(3 + d.Bits(3)), Delay: uint16(d.Bits(2))}
	if d.Bits(1) == 1 {
		f.Do, f.Delay = scenario.ChannelError, 0
	}
	s.Faults = append(s.Faults, f)
	if f.Do == scenario.Drop && s.Schedule.Strategy == scenario.PCT && len(s.Schedule.Changes) > 0 {
		d.succeeded(s, who, f.At)
	}
}

// succeeded lets other clients acquire and keep the lock as soon as one client (who) has lost it. If that client
// mistakes another's hold for its own, its next operation shows it.
func (d draw) succeeded(s *scenario.Scenario, who int, at uint16) {
	for i := range s.Clients {
		if ops := s.Clients[i].Ops; i != who && ops[len(ops)-1].Op == lock.Release {
			s.Clients[i].Ops = ops[:len(ops)-1]
		}
	}
	first := uint8(who + 1)
	others := slices.DeleteFunc(s.Schedule.Priorities, func(c uint8) bool { return c == first })
	s.Schedule.Priorities = slices.Insert(others, 0, first)
	s.Schedule.Changes = []uint16{at + 1 + uint16(d.Bits(1))}
}

// calls returns one operation without an argument for each op in all.
func calls(all ...lock.Op) (ops []scenario.Operation) {
	for _, op := range all {
		ops = append(ops, scenario.Operation{Op: op})
	}
	return ops
}

// recount adds counts of the slots: at the end, if there is a long idle time; or at the beginning and at the end, if an
// administrator may change the slots in between.
func (d draw) recount(s *scenario.Scenario) {
	if !d.offers(lock.Count) {
		return
	}
	count := scenario.Operation{Op: lock.Count}
	last := func() { // only clients that hold nothing at the end: a count may close the channel and end a hold
		if c := &s.Clients[d.below(len(s.Clients))]; !holdsAtLast(c.Ops) {
			c.Ops = append(c.Ops, count)
		}
	}
	switch {
	case slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do == scenario.Idle }):
		last()
	case slices.ContainsFunc(s.Clients, func(c scenario.Client) bool { return c.Administers() }) && d.Bits(1) == 1:
		c := &s.Clients[d.below(len(s.Clients))]
		c.Ops = slices.Insert(c.Ops, 0, count)
		if d.Bits(1) == 1 && !holdsAtLast(c.Ops) { // a client that counts twice may remember the first count
			c.Ops = append(c.Ops, count)
		} else {
			last()
		}
	}
}

// holdsAtLast reports whether a client may still hold something after all of the operations.
func holdsAtLast(ops []scenario.Operation) (held bool) {
	for _, o := range ops {
		held = o.Op == lock.Acquire || held && o.Op != lock.Release
	}
	return held
}

// waiting makes about half of the acquires wait for the lock, up to a timeout. It adds up to three faults that let time
// pass.
func (d draw) waiting(s *scenario.Scenario) {
	for i := range s.Clients {
		for j := range s.Clients[i].Ops {
			if o := &s.Clients[i].Ops[j]; o.Op == lock.Acquire && d.Bits(1) == 1 {
				o.Arg = scenario.Waiting
			}
		}
	}
	for range d.Bits(2) { // lets the timeouts of the acquires expire
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Advance, At: uint16(1 + d.below(d.spread(s)))})
	}
}

// idleSeconds has idle times that are longer than usual expiries of queues and messages (90 seconds), RabbitMQ's
// consumer_timeout of 30 minutes (31 minutes, twice as likely), and a week (8 days).
var idleSeconds = []uint32{90, 31 * 60, 31 * 60, 8 * 24 * 60 * 60}

// needless adds releases that must change nothing if the client holds nothing: before its first acquire, after another
// release, or after a verify, which may have found no hold. If the client does hold the lock, such a release is an
// ordinary one.
func (d draw) needless(ops []scenario.Operation) []scenario.Operation {
	again := scenario.Operation{Op: lock.Release, Arg: scenario.Anyway}
	if !slices.ContainsFunc(ops, func(o scenario.Operation) bool { return o.Op == lock.Acquire }) {
		return ops
	}
	var out []scenario.Operation
	if d.Bits(2) == 0 {
		out = append(out, again)
	}
	for _, o := range ops {
		out = append(out, o)
		switch often := d.Bits(2); {
		case o.Op == lock.Release && often < 2, o.Op == lock.Verify && often == 0, o.Op == lock.Acquire && often == 0 && d.Bits(1) == 0:
			out = append(out, again)
		}
	}
	return out
}

// crossed lets a process lose its hold of one lock, acquire another lock, and release the first. Other clients want the
// second lock. The process may confuse the two locks and release the second.
func (d draw) crossed(s *scenario.Scenario) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	for i := range s.Clients {
		switch c := &s.Clients[i]; {
		case i == 0:
			c.Lock, c.Ops = 0, calls(a, r, a, r)
		case !c.Administers():
			c.Lock, c.Ops = 1, calls(a, r, a, v)
		}
	}
	s.Clients = append(s.Clients, scenario.Client{Lock: 1, With: 1, Ops: calls(a, v, v, r)})
	do := []scenario.ActionKind{scenario.ChannelError, scenario.Drop}[d.Bits(1)]
	loss := scenario.Fault{Do: do, Client: 1, At: uint16(2 + d.Bits(2))}
	late := d.Bits(2) > 0 // the loss comes before the release of the first lock, during an acquire of the second
	if late {
		loss.At, loss.Late = 1, true
		s.Clients[len(s.Clients)-1].Ops = calls(a, v, r, a, v, r, a, v, v)
	}
	s.Faults = []scenario.Fault{loss}
	if late { // reconnects before both holds, so that a library may mistake one for the other
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Drop, Client: 1, At: 1})
	}
	if s.Schedule.Strategy != scenario.PCT {
		return
	}
	first := []uint8{uint8(len(s.Clients))}
	if late {
		first = []uint8{1, first[0]}
	}
	others := slices.DeleteFunc(s.Schedule.Priorities, func(c uint8) bool { return slices.Contains(first, c) })
	s.Schedule.Priorities = append(first, others...)
}

// pairs makes one or two of the clients also use the other lock, from the same process. If there is only one lock, it
// adds one.
func (d draw) pairs(s *scenario.Scenario) {
	kind := d.target.Kind
	if len(s.Locks) == 1 {
		s.Locks = append(s.Locks, scenario.Lock{Name: plainNames[1], Slots: max(s.Locks[0].Slots, 1)})
		if kind == lock.Mutex {
			s.Locks[1].Slots = 0
		}
	}
	if d.Bits(2) == 0 && d.shape.Rounds == nil && len(s.Clients) > 1 && len(s.Clients) < lock.MaxClients {
		d.crossed(s)
		return
	}
	for i := range min(1+d.Bits(1), len(s.Clients)) {
		if len(s.Clients) == lock.MaxClients {
			return
		}
		with := &s.Clients[i]
		c := scenario.Client{Lock: 1 - with.Lock, Ops: d.using(kind), With: uint8(i + 1)}
		s.Clients = append(s.Clients, c)
		if at := d.below(len(s.Clients)); s.Schedule.Strategy == scenario.PCT {
			s.Schedule.Priorities = slices.Insert(s.Schedule.Priorities, at, uint8(len(s.Clients)))
		}
	}
}
