package monitor

import (
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// CodeShared encodes, or decodes if c reads, the state that belongs to no client: the expected number of slots of each
// lock, and whether a linearization of the events is known.
func (m *Monitor) CodeShared(c *codec.Coder, locks int) {
	codec.Bools(c, &m.Witnessed, &m.WitnessedStrong)
	for i := range m.locks[:locks] {
		if m.traits != 0 {
			codec.Number(c, &m.locks[i].token)
			codec.Byte(c, &m.locks[i].grants)
		}
	}
	for i := range m.locks[:locks] {
		expected := uint8(m.locks[i].expected)
		codec.Byte(c, &expected)
		m.locks[i].expected = int8(expected)
	}
}

// CodeClient encodes the state of a client, or decodes it if c reads.
func (m *Monitor) CodeClient(c *codec.Coder, client uint8) {
	if c.Reading() {
		m.clients[client-1] = watch{} // decoding replaces the whole state
	}
	m.encode(&m.clients[client-1], c)
}

// encode encodes or decodes a client's watch, and its lease if the locks have any trait.
func (m *Monitor) encode(w *watch, c *codec.Coder) {
	w.encode(c)
	if m.traits != 0 {
		m.encodeLease(w, c)
	}
}

// Left reports whether crash-frees has yet to be judged for the dead client c: the slot that it held must become free.
func (m *Monitor) Left(c uint8) bool { return m.clients[c-1].left > 0 || m.clients[c-1].spent }

// CodeDead encodes a dead client that has no influence any more. All such clients of one lock have the same code.
func (m *Monitor) CodeDead(c *codec.Coder, client uint8) {
	dead := watch{lock: m.clients[client-1].lock, connected: true}
	m.encode(&dead, c)
}

func (w *watch) encode(c *codec.Coder) {
	codec.Byte(c, &w.op)
	codec.Byte(c, &w.lock)
	codec.Byte(c, &w.believed)
	codec.Byte(c, &w.left)
	codec.Bools(c, &w.alive, &w.connected, &w.released, &w.gone, &w.dropped, &w.moved, &w.spent)
	if w.op == lock.NoOp {
		return
	}
	codec.Byte(c, &w.arg)
	codec.Bools(c, &w.full, &w.waited, &w.stale, &w.working, &w.interleaved, &w.alone, &w.deleted, &w.linked)
	codec.Bools(c, &w.troubled, &w.broken, &w.wasted, &w.blocked)
	for _, set := range []*uint16{
		&w.existed, &w.absent, &w.busy, &w.empty, &w.granted, &w.mine, &w.held, &w.claimed, &w.undone,
		&w.counted, &w.declared, &w.asked,
	} {
		codec.Number(c, set)
	}
	codec.Byte(c, &w.grown)
	codec.Byte(c, &w.shrunk)
	codec.Byte(c, &w.refused)
	codec.Byte(c, &w.mended)
	codec.Number(c, &w.cost.Trips)
	codec.Byte(c, &w.cost.Channels)
	codec.Byte(c, &w.cost.Connections)
}

// CodeView encodes the part of a client's state that can affect how other clients are judged by the properties in keep.
func (m *Monitor) CodeView(c *codec.Coder, client uint8, keep property.Set) {
	w, wanted := m.clients[client-1], retainedFor(keep)
	if w.believed == 0 {
		w.connected, w.gone = false, false
	}
	administers := w.op.Administrative() && wanted&(ofAdmins|ofWaiting) != 0
	acquires := w.op == lock.Acquire && wanted&ofDamage != 0
	administering := wanted&ofWaiting != 0 && m.locks[w.lock].truth.Admin == m.owner(client) // see administered
	alive := w.alive && (administers || acquires || w.believed > 0 || administering)
	if !acquires { // see pendingOwner
		w.declared = 0
	}
	codec.Bools(c, &alive, &w.connected, &w.released, &w.gone, &w.working, &administers, &acquires)
	codec.Byte(c, &w.lock)
	codec.Byte(c, &w.believed)
	codec.Number(c, &w.declared)
}

// Holds reports whether client c believes it holds a slot, and the broker has the connection on which it was granted.
func (m *Monitor) Holds(c uint8) bool {
	w := &m.clients[c-1]
	return w.believed > 0 && w.connected
}

// Memoryless reports whether the properties in keep need nothing of a client's past.
func Memoryless(keep property.Set) bool { return retainedFor(keep) == 0 }

// retainedFor are the groups of fields that the monitor must keep to judge the properties in keep.
func retainedFor(keep property.Set) (all retained) {
	for p, n := range needs {
		if keep.Has(property.Property(p)) {
			all |= n
		}
	}
	return all
}

// Visible is the part of the state that steps of other clients may change or depend on.
type Visible struct {
	Exists, Taken              [lock.MaxLocks]uint16
	Mutex, Administered        [lock.MaxLocks]bool // the administration mutex is taken, and its owner rightly has it
	Administering, Touching    bool                // the client administers, and has touched A queues
	Alive                      bool
	Witnessed, WitnessedStrong bool // a linearization is known; this does not follow from the other fields
}

// Visible is the present Visible, with the fields of client c; 0 is no client.
func (m *Monitor) Visible(c uint8) Visible {
	s := Visible{Witnessed: m.Witnessed, WitnessedStrong: m.WitnessedStrong}
	for l := range m.locks {
		t := &m.locks[l].truth
		s.Exists[l], s.Taken[l], s.Mutex[l] = t.Exists, t.Taken, t.Admin != 0
		s.Administered[l] = m.administered(uint8(l), t)
	}
	if c > 0 {
		w := &m.clients[c-1]
		s.Administering, s.Touching, s.Alive = w.op.Administrative(), w.working, w.alive
	}
	return s
}

// Resume is called after a state was decoded. truth is the broker's state of each lock.
func (m *Monitor) Resume(truth []Truth) {
	m.Found, m.Exercised, m.freshly = 0, 0, 0
	for i := range truth {
		m.locks[i].truth = truth[i]
	}
}

// retained is a set of groups of fields of a client's state. Each group is needed by some properties only.
type retained uint32

const (
	ofExistence retained = 1 << iota
	ofHolders
	ofGrants
	ofOwn
	ofCounts
	ofWaiting
	ofTrouble
	ofAdmins
	ofCosts
	ofDamage
	ofStaleness
	ofRenewal
	ofLoss
	ofMoves
	ofTheDead
	ofLooseness
	ofFounding // what the servers had granted an acquire before its answer
)

// needs are the groups of fields that each property needs. Beliefs and the locks' states are always kept.
var needs = [property.Count]retained{
	property.Linearizable:     ofExistence | ofHolders | ofGrants | ofOwn | ofCounts | ofStaleness | ofMoves | ofLooseness,
	property.NoPhantomSlot:    ofExistence,
	property.NoFalseHold:      ofRenewal,
	property.HonestVerify:     ofOwn | ofLoss,
	property.StaleBeliefEnds:  ofStaleness,
	property.ContiguousSlots:  ofAdmins,
	property.ExactCount:       ofCounts,
	property.AdminExclusion:   ofAdmins,
	property.RemovalDrains:    ofGrants | ofExistence,
	property.EffectiveRelease: ofHolders | ofDamage,
	property.CrashFrees:       ofDamage | ofTheDead,
	property.NoLeak:           ofDamage,
	property.Progress:         ofExistence | ofHolders | ofWaiting | ofTrouble | ofLoss,
	property.CheapAcquire:     ofExistence | ofHolders | ofCosts,
	property.CheapVerify:      ofCosts,
	property.RenewalHonest:    ofOwn,
	property.LeaseRespected:   ofFounding,
}

// serves are the groups of fields that matter during each operation.
var serves = [...]retained{
	lock.Acquire: ofExistence | ofHolders | ofGrants | ofWaiting | ofTrouble | ofCosts | ofDamage,
	lock.Verify:  ofExistence | ofOwn | ofTrouble | ofCosts | ofStaleness,
	lock.Release: ofOwn | ofHolders | ofTrouble | ofDamage | ofStaleness,
	lock.Create:  ofCounts | ofWaiting | ofTrouble | ofAdmins,
	lock.Add:     ofCounts | ofWaiting | ofTrouble | ofAdmins,
	lock.Remove:  ofCounts | ofWaiting | ofTrouble | ofAdmins,
	lock.Destroy: ofCounts | ofWaiting | ofTrouble | ofAdmins,
	lock.Count:   ofCounts | ofTrouble,
	lock.Wait:    ofHolders | ofWaiting | ofTrouble,
	lock.Refresh: ofExistence | ofOwn | ofTrouble | ofCosts | ofStaleness,
}

// Forget clears the fields that the properties in keep do not need: measurements, fields of completed calls, and groups
// that only other properties need. States that differ only in such fields become equal.
func (m *Monitor) Forget(keep property.Set, failedAcquire property.FailedAcquire) {
	if failedAcquire == property.Weak || !keep.Has(property.Linearizable) {
		m.WitnessedStrong = false
	}
	m.Witnessed = m.Witnessed && keep.Has(property.Linearizable)
	if !m.Witnessed {
		keep &^= 1 << property.Linearizable
	}
	memory := retainedFor(keep)
	for i := range m.clients[:m.n] {
		m.clients[i].forget(memory, m)
	}
	for i := range m.locks {
		if !keep.Has(property.ContiguousSlots) {
			m.locks[i].expected = -1
		}
	}
	m.Overlap, m.Overlaps, m.OwnClock = 0, 0, 0
	if m.traits != 0 {
		m.renumber()
		return // leases end at times that are compared with m.now
	}
	m.now = 0
}

func (w *watch) forget(wanted retained, m *Monitor) {
	idle := watch{
		op: w.op, lock: w.lock, alive: w.alive, connected: w.connected, believed: w.believed, released: w.released,
		timing: timing{disturbed: w.disturbed}, lease: m.leaseOnly(w),
	}
	for of := ofRenewal; of <= ofLooseness; of <<= 1 {
		if wanted&of != 0 {
			idle.recall(of, w, m)
		}
	}
	if w.op == lock.NoOp || !w.alive {
		idle.connected = idle.connected || idle.believed == 0
		*w = idle
		return
	}
	serve := serves[w.op]
	if m.drains && w.op.Administrative() { // see hindered
		serve |= ofExistence | ofHolders
	}
	for of := retained(1); of <= ofStaleness; of <<= 1 {
		if wanted&serve&of != 0 {
			idle.recall(of, w, m)
		}
	}
	if w.op == lock.Acquire && (!w.connected || wanted&ofFounding != 0 && m.founds()) {
		idle.mine = w.mine // the slot that the answer will name may be lost with its connection or lease
	}
	idle.arg, idle.asking = w.arg, w.asking
	*w = idle
}

// recall copies one group of fields from o. Values that make no difference are made equal.
func (w *watch) recall(of retained, o *watch, m *Monitor) {
	switch of {
	case ofExistence:
		w.existence = o.existence
	case ofHolders:
		w.holders = o.holders
		w.full = o.full && m.WitnessedStrong
	case ofGrants:
		w.grants = o.grants
	case ofOwn:
		w.own = o.own
	case ofCounts:
		w.counts = o.counts
	case ofWaiting:
		w.waiting = o.waiting // values above the maximum are equivalent
		w.asked = min(o.asked, max(m.polls, uint16(m.tries))+2)
		w.refused = min(o.refused, max(m.retries, m.tries)+2)
	case ofTrouble:
		w.trouble = o.trouble
	case ofAdmins:
		w.admins = o.admins
	case ofCosts:
		w.claims, w.costs = o.claims, o.costs
		w.cost = Cost{Trips: min(o.cost.Trips, 250), Channels: o.cost.Channels, Connections: o.cost.Connections}
	case ofDamage:
		w.claims, w.damage = o.claims, o.damage
	case ofStaleness:
		w.staleness = o.staleness
	case ofRenewal:
		w.renewal = o.renewal
	case ofLoss:
		w.loss = o.loss
	case ofMoves:
		w.moved = o.moved && o.believed > 0
	case ofTheDead:
		w.theDead = o.theDead
	case ofLooseness:
		w.loosened = o.loosened
		if o.op == lock.NoOp {
			w.lost, w.unsaid = false, false
		}
	}
}
