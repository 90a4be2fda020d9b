package property

import "github.com/lockproof/lockproof/model/lock"

// External locks are judged in three parts. Each property belongs to one of these.
const (
	// Safety is judged by the history alone, and has no exceptions. A client certainly holds a slot from its grant
	// until it releases it, a verify says anything but held, the client dies, or its connection is lost.
	Safety = Set(1<<MutualExclusion | 1<<LimitRespected | 1<<NoPhantomSlot | 1<<RemovalDrains |
		1<<StaleBeliefEnds | 1<<FencingMonotone | 1<<NoCrash)
	// Recovery is judged by an audit, and has no exceptions. In the audit, which comes last, new clients acquire and
	// release one after the other, while no other client is active.
	Recovery = Set(1<<EffectiveRelease | 1<<CrashFrees | 1<<SurvivesRestart | 1<<NoLeak | 1<<Progress | 1<<ExactCount |
		1<<ContiguousSlots | 1<<NameSafety)
	// Promises are judged only if the lock's contract contains them, and only in executions without faults.
	Promises = Set(1<<Linearizable | 1<<CheapAcquire | 1<<CheapVerify | 1<<MinimalDriver | 1<<LossTold | 1<<FreesAtOnce)
)

// ApplicableExternal are the properties that apply to an external lock of type k. Its server's state is unknown.
func ApplicableExternal(k lock.Kind) Set {
	all := Applicable(k).With(NoCrash)
	if k == lock.Semaphore {
		all = all.With(LimitRespected) &^ (1 << RemovalDrains) // it is unknown which slot was removed
	} else {
		all &^= 1 << ContiguousSlots
	}
	return all & (Safety | Recovery | Promises)
}

// Announceable are the properties that apply to an external lock only if its clients announce a feature, such as
// fencing tokens.
var Announceable = ForTraits(lock.Tokens | lock.Losses).With(FreesAtOnce)

// Announced are the properties that apply because clients of an external lock of type k announce the traits t. It is
// empty unless s has all properties that apply to external locks of that type.
func (s Set) Announced(k lock.Kind, t lock.Traits) Set {
	if ApplicableExternal(k)&^s != 0 {
		return 0
	}
	all := ForTraits(t) & Announceable
	if k == lock.Mutex && t.Has(lock.Leases) { // in a semaphore, clients can use other slots than a leaked one
		all = all.With(FreesAtOnce)
	}
	return all
}
